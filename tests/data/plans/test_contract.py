"""What every source and every operation promises."""

from __future__ import annotations

import collections
import inspect
import os
import threading
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unisono._src.data import plans
from unisono._src.data.plans import (
    Cache,
    Concatenate,
    FileCache,
    GeneratorSource,
    Map,
    Operation,
    Plan,
    Repeat,
    Shuffle,
    Source,
    ZippedPlans,
)

from .contract_cases import INPUTS, OPERATIONS, SOURCES
from .restoring import LIMIT, as_comparable, assert_restorable, collect_values

pytestmark = pytest.mark.slow


def source_plan(name: str, folder: Path) -> Plan:
    return Plan(SOURCES[name].make(folder))


def operation_plan(name: str, upstream: str, folder: Path) -> Plan:
    case = OPERATIONS[name]
    source, operations = INPUTS[upstream]
    return Plan(source, (*operations, *case.before, case.make(folder)))


CASES: dict[str, Callable[[Path], Plan]] = {
    **{name: partial(source_plan, name) for name in SOURCES},
    **{f"{name} of {upstream}": partial(operation_plan, name, upstream) for name in OPERATIONS for upstream in INPUTS},
}

every_case = pytest.mark.parametrize("make", list(CASES.values()), ids=list(CASES))


def test_every_source_and_operation_is_in_the_table(tmp_path: Path) -> None:
    tested = {type(case.make(tmp_path)) for case in (*SOURCES.values(), *OPERATIONS.values())}
    kinds = {kind for _, kind in inspect.getmembers(plans, inspect.isclass) if issubclass(kind, Source | Operation)}
    needs_ray = {plans.RayBlocks}  # tests/engines/ray/test_data.py
    assert {kind for kind in kinds if not inspect.isabstract(kind)} - needs_ray == tested


@every_case
def test_the_cardinality_is_the_number_of_elements(make: Callable[[Path], Plan], tmp_path: Path) -> None:
    plan = make(tmp_path)
    count = len(collect_values(plan))
    if plan.cardinality >= 0:
        assert count == plan.cardinality
    elif plan.cardinality == plans.INFINITE_CARDINALITY:
        assert count == LIMIT
    else:
        assert plan.cardinality == plans.UNKNOWN_CARDINALITY


@every_case
def test_a_pass_is_the_same_whenever_it_is_made(make: Callable[[Path], Plan], tmp_path: Path) -> None:
    plan = make(tmp_path)
    for path in [(0,), (4,), (0, 3)]:
        first = collect_values(plan, path)
        assert collect_values(plan, path) == first == collect_values(make(tmp_path), path)


@every_case
@pytest.mark.parametrize("path", [(0,), (3,)], ids=["first pass", "later pass"])
def test_a_pass_can_be_restored_at_every_position(
    make: Callable[[Path], Plan], path: tuple[int, ...], tmp_path: Path
) -> None:
    assert_restorable(partial(make, tmp_path), path)


@every_case
def test_a_pass_can_be_restored_within_the_rounds_of_a_repeat(make: Callable[[Path], Plan], tmp_path: Path) -> None:
    assert_restorable(lambda: make(tmp_path).then(Repeat(2)))


@every_case
def test_a_pass_can_be_restored_through_a_shuffle_buffer(make: Callable[[Path], Plan], tmp_path: Path) -> None:
    # A filter takes random access away: the shuffle then holds elements back.
    assert_restorable(lambda: make(tmp_path).then(plans.Filter(lambda *_: True)).then(Shuffle(4, seed=2)))


@pytest.mark.parametrize("name", OPERATIONS)
def test_elements_before_a_position_are_not_computed_again(name: str, tmp_path: Path) -> None:
    case = OPERATIONS[name]
    computed: list[int] = []

    def remember(x: Any) -> Any:
        computed.append(int(x))
        return x

    def make(number: int) -> Plan:
        folder = tmp_path / str(number)  # separate files: no pass reads what another one wrote
        folder.mkdir()
        return Plan(plans.Range(range(7)), (Map(remember, seed=1), *case.before, case.make(folder)))

    def count_computed(elements: plans.Elements, limit: int) -> int:
        computed.clear()
        for element in islice(elements, limit):
            element()
        elements.close()
        return len(computed)

    full = count_computed(make(0).open((0,)), 12)
    for number in range(13):
        first = make(100 + number).open((0,))
        given = [as_comparable(element()) for element in islice(first, number)]
        if len(given) < number:
            first.close()
            break
        state = first.get_state()
        first.close()
        before = count_computed(make(200 + number).open((0,)), number)
        restored = make(300 + number).open((0,))
        restored.set_state(state)
        after = count_computed(restored, 12 - number)
        assert 0 <= before + after - full <= case.recomputes, f"after {number} elements"


@every_case
def test_closing_gives_everything_back_and_may_be_done_twice(make: Callable[[Path], Plan], tmp_path: Path) -> None:
    plan = make(tmp_path)
    files, threads = _open_files(), threading.active_count()
    for taken in (0, 2, LIMIT):
        elements = plan.open((0,))
        collections.deque((element() for element in islice(elements, taken)), maxlen=0)
        elements.close()
        elements.close()
        assert _open_files() == files
        assert threading.active_count() == threads
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")], "a temporary file is left"


@pytest.mark.parametrize("name", ["load", "text", "records"])
def test_a_shuffle_gives_the_files_before_it_back(name: str, tmp_path: Path) -> None:
    plan = source_plan(name, tmp_path).then(Shuffle(10, seed=1))
    files = _open_files()
    elements = plan.open((0,))
    assert next(elements)() is not None
    elements.close()
    elements.close()
    assert _open_files() == files


def test_an_element_of_a_file_can_be_computed_after_its_pass_was_closed(tmp_path: Path) -> None:
    files = _open_files()
    elements = source_plan("load", tmp_path).open((0,))
    first = next(elements)
    elements.close()
    assert first() is not None
    del first
    assert _open_files() == files


@pytest.mark.parametrize("name", OPERATIONS)
def test_closing_an_operation_closes_the_generator_before_it(name: str, tmp_path: Path) -> None:
    running: list[str] = []

    def watched() -> Any:
        running.append("generator")
        try:
            yield from range(7)
        finally:
            running.pop()

    case = OPERATIONS[name]
    elements = Plan(GeneratorSource(watched), (*case.before, case.make(tmp_path))).open((0,))
    for element in islice(elements, 1):
        element()
    elements.close()
    assert running == []


@pytest.mark.parametrize(
    ("written", "make"),
    [(case.written, case.make) for case in (*SOURCES.values(), *OPERATIONS.values())],
    ids=[*SOURCES, *OPERATIONS],
)
def test_it_reads_like_the_call_that_made_it(written: str, make: Callable[[Path], Any], tmp_path: Path) -> None:
    assert str(make(tmp_path)) == written.replace("FOLDER", str(tmp_path))


@every_case
def test_other_seeds_make_an_equal_plan_with_those_seeds(make: Callable[[Path], Plan], tmp_path: Path) -> None:
    plan = make(tmp_path)
    seeds = [seed + 1 for seed in plan.seeds]
    other = plan.with_seeds(seeds)
    assert list(other.seeds) == seeds
    assert str(other) == str(plan)
    back = other.with_seeds(plan.seeds)
    assert collect_values(back) == collect_values(plan)


def test_seeds_are_found_in_plans_within_plans() -> None:
    rows = plans.Range(range(5))
    inner = Plan(rows, (Shuffle(5, seed=1),))
    plan = Plan(ZippedPlans((inner, Plan(rows))), (Map(abs, seed=2), Concatenate(Plan(rows, (Shuffle(5, seed=3),)))))
    assert plan.seeds == (1, 2, 3)
    assert plan.with_seeds([7, 8, 9]).seeds == (7, 8, 9)
    with pytest.raises(ValueError, match=r"has 3 seeds, not 2: \[1, 2\]"):
        plan.with_seeds([1, 2])


class TestStatesOfCaches:
    """A cache may be filled, or its file written, between the moment a state is kept and the moment it is used."""

    @staticmethod
    def plan() -> Plan:
        return Plan(
            GeneratorSource(lambda: iter(range(6))), (Shuffle(3, seed=1), Cache(), Map(lambda x: x + 1, seed=1))
        )

    def test_a_state_of_the_filling_pass_fits_one_that_finds_everything(self) -> None:
        plan = self.plan()
        expected = collect_values(plan)
        elements = self.plan().open((0,))
        list(islice(elements, 2))
        again = plan.open((1,))
        again.set_state(elements.get_state())
        assert [as_comparable(element()) for element in again] == expected[2:]

    def test_a_state_of_a_full_cache_fits_one_that_is_empty(self) -> None:
        plan = self.plan()
        expected = collect_values(plan)
        elements = plan.open((1,))
        list(islice(elements, 2))
        again = self.plan().open((1,))
        again.set_state(elements.get_state())
        assert [as_comparable(element()) for element in again] == expected[2:]
        assert collect_values(plan, (5,)) == expected

    def test_a_restored_pass_keeps_what_it_computes_and_the_next_one_the_rest(self) -> None:
        calls: list[int] = []

        def remember(x: Any) -> Any:
            calls.append(int(x))
            return x

        plan = Plan(plans.Range(range(5)), (Map(remember, seed=1), Cache()))
        elements = plan.open((0,))
        elements.set_state({**elements.get_state(), "index": 3, "input": 3})
        assert [int(element()) for element in elements] == [3, 4]
        assert len(collect_values(plan)) == len(collect_values(plan)) == 5
        assert sorted(calls) == [0, 1, 2, 3, 4]

    def test_other_seeds_find_no_elements_of_these(self) -> None:
        plan = self.plan()
        other = plan.with_seeds([8, 1])
        assert collect_values(plan) != collect_values(other) == collect_values(self.plan().with_seeds([8, 1]))

    @pytest.mark.parametrize("moved", [0, 3])
    def test_a_state_of_a_pass_that_read_a_file_fits_one_that_writes_it(self, moved: int, tmp_path: Path) -> None:
        plan = Plan(GeneratorSource(lambda: iter(range(6))), (FileCache(tmp_path / "f", "cache('f')", "numbers"),))
        expected = collect_values(plan)
        elements = plan.open((0,))
        list(islice(elements, 2))
        state = elements.get_state()
        elements.close()
        (tmp_path / "f").unlink()
        again = plan.open((0,))
        list(islice(again, moved))
        again.set_state(state)
        assert [as_comparable(element()) for element in again] == expected[2:]
        again.close()
        assert not list(tmp_path.iterdir())


def test_a_long_shuffle_buffer_over_a_stream_is_restorable() -> None:
    # More elements than between two remembered positions of `TrackedInput`.
    def make() -> Plan:
        return Plan(GeneratorSource(lambda: iter(range(200))), (Shuffle(90, seed=1), plans.Batch(25)))

    assert_restorable(make)


def test_a_restored_shuffle_buffer_maps_nothing_again() -> None:
    calls: list[int] = []
    numbers = Plan(GeneratorSource(lambda: iter(range(50))), (Map(lambda x: calls.append(int(x)) or x, seed=1),))
    plan = numbers.then(Shuffle(20, seed=1))
    elements = plan.open((0,))
    for element in islice(elements, 10):
        element()
    assert len(calls) == 10
    restored = plan.open((0,))
    restored.set_state(elements.get_state())
    assert len(calls) == 10
    assert sorted([*calls, *(int(element()) for element in restored)]) == list(range(50))


def test_random_words_go_through_json_unharmed() -> None:
    # 64-bit words: a float in between would lose their lower bits.
    def make() -> Plan:
        return Plan(GeneratorSource(lambda: iter(np.arange(40))), (Shuffle(7, seed=-3),))

    assert_restorable(make, (2**40,), limit=50)


def _open_files() -> set[str]:
    """The files that this process holds open. Unknown without /proc."""
    descriptors = Path("/proc/self/fd")
    return {os.readlink(each) for each in descriptors.glob("*") if each.is_file()} if descriptors.exists() else set()
