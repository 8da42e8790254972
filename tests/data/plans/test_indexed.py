from __future__ import annotations

from itertools import count, islice
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisono._src.data.plans import (
    INFINITE_CARDINALITY,
    ArraySlices,
    Batch,
    Cache,
    Concatenate,
    Enumerate,
    Filter,
    GeneratorSource,
    IndexedPlan,
    Map,
    Operation,
    Plan,
    Prefetch,
    Rebatch,
    Repeat,
    Shard,
    Shuffle,
    Skip,
    Take,
    Unbatch,
    ZippedPlans,
    index_plan,
    iterate,
)


def numbers(size: int, *operations: Operation) -> Plan:
    return Plan(ArraySlices(np.arange(size)), operations)


def index_completely(plan: Plan) -> IndexedPlan:
    """The plan as row numbers, all of it."""
    result = index_plan(plan)
    assert result is not None
    beginning, rest = result
    assert rest == ()
    return beginning


def count_indexed_operations(plan: Plan) -> int:
    """How many operations were taken as row numbers."""
    result = index_plan(plan)
    assert result is not None
    return len(plan.operations) - len(result[1])


def batches_by_row(plan: IndexedPlan, iteration: int, segment: int = 0) -> list[Any]:
    """The elements, computed from row numbers and maps alone."""
    batches = plan.pass_batches((iteration,), segment)
    assert batches.rows.dtype == np.int32
    assert batches.offsets.dtype == np.int64
    assert batches.offsets[0] == 0
    assert batches.offsets[-1] == len(batches.rows)
    identities = plan.pass_identities((iteration,), segment)
    assert identities.epochs.shape == identities.positions.shape == (len(batches.rows), len(plan.origins))
    return [_element(plan, batches[index]).tolist() for index in range(len(batches))]


def _element(plan: IndexedPlan, rows: Any) -> Any:
    batch = np.asarray(plan.arrays)[rows]
    for each in plan.element_maps:
        batch = np.stack([each.function(row) for row in batch])
    for each in plan.batch_maps:
        batch = each.function(batch)
    return batch if plan.batch else batch[0]


TRIPLED, PLUS_ONE = Map(lambda x: x * 3, seed=1), Map(lambda x: x + 1, seed=2)


def element_operations() -> st.SearchStrategy[Operation]:
    return st.one_of(
        st.builds(Shuffle, st.just(3), st.integers(-1, 2), st.booleans()),
        st.builds(Repeat, st.sampled_from([1, 2, 3, None])),
        st.builds(Cache),
        st.builds(Prefetch, st.just(2)),
        st.sampled_from([TRIPLED, PLUS_ONE]),
    )


@st.composite
def plans_with_one_batch(draw: st.DrawFn) -> Plan:
    before = draw(st.lists(element_operations(), max_size=3))
    batch = Batch(draw(st.integers(1, 6)), draw(st.booleans()))
    after = draw(st.lists(element_operations(), max_size=2))
    return numbers(draw(st.integers(1, 9)), *before, batch, *after)


def expected_indexed_operations(plan: Plan) -> int:
    """All, up to what reorders or repeats what already repeats without end."""
    endless, size = False, plan.source.cardinality
    for number, operation in enumerate(plan.operations):
        if endless and isinstance(operation, Shuffle | Repeat):
            return number
        size = operation.cardinality(size)
        endless = endless or size == INFINITE_CARDINALITY
    return len(plan.operations)


@settings(max_examples=80, deadline=None)
@given(plan=plans_with_one_batch(), iteration=st.integers(0, 3))
def test_both_executors_give_the_same_elements_in_the_same_order(plan: Plan, iteration: int) -> None:
    taken = expected_indexed_operations(plan)
    assert count_indexed_operations(plan) == taken
    plan = Plan(plan.source, plan.operations[:taken])
    fast = index_completely(plan)
    if fast.num_batches is not None:
        expected = [element.tolist() for element in iterate(plan, iteration)]
        assert batches_by_row(fast, iteration) == expected
        assert fast.num_batches == len(expected)
    else:
        segments = [batches_by_row(fast, iteration, segment) for segment in range(3)]
        given_batches = [batch for segment in segments for batch in segment]
        expected = [element.tolist() for element in islice(iterate(plan, iteration), len(given_batches))]
        assert given_batches == expected


def test_a_pass_does_not_depend_on_the_passes_before_it() -> None:
    plan = index_completely(numbers(50, Shuffle(50, seed=1), Batch(8)))
    late = plan.pass_batches((7,)).rows.tolist()
    assert [plan.pass_batches((k,)).rows.tolist() for k in range(8)][7] == late


def test_arrays_are_passed_on_unchanged() -> None:
    x, y = np.zeros((4, 2)), jnp.zeros(4)
    plan = index_completely(Plan(ArraySlices({"x": x, "y": y}), (Batch(2),)))
    assert plan.arrays["x"] is x
    assert plan.arrays["y"] is y
    assert plan.tables == (0, 0)


def test_maps_are_sorted_into_those_of_elements_and_those_of_batches() -> None:
    first, second, third = (lambda x: x), (lambda x: x), (lambda x: x)
    plan = index_completely(numbers(4, Map(first), Shuffle(4), Map(second), Batch(2, True), Map(third)))
    assert [each.function for each in plan.element_maps] == [first, second]
    assert [each.function for each in plan.batch_maps] == [third]
    assert plan.batch == Batch(2, True)


@pytest.mark.parametrize(
    ("operations", "cached"),
    [
        ([Map(abs), Batch(2)], 0),
        ([Map(abs), Cache(), Map(abs), Batch(2)], 1),
        ([Map(abs), Cache(), Map(abs), Batch(2), Map(abs), Cache(), Map(abs)], 3),
        ([Map(abs), Repeat(), Cache(), Batch(2)], 0),
    ],
)
def test_it_counts_the_maps_whose_results_are_to_be_kept(operations: list[Operation], cached: int) -> None:
    plan = index_completely(numbers(4, *operations))
    assert sum(each.cached for each in (*plan.element_maps, *plan.batch_maps)) == cached


def test_an_endless_repeat_after_the_batch_has_one_round_per_window() -> None:
    plan = index_completely(numbers(5, Batch(2), Repeat()))
    assert plan.num_batches is None
    assert batches_by_row(plan, 0, 0) == batches_by_row(plan, 0, 1) == [[0, 1], [2, 3], [4]]


def test_an_endless_repeat_before_the_batch_runs_across_the_ends_of_rounds() -> None:
    plan = index_completely(numbers(3, Repeat(), Batch(2)))
    assert plan.rounds_per_segment == 2
    assert batches_by_row(plan, 0) == [[0, 1], [2, 0], [1, 2]]


def test_segments_of_several_shuffled_rounds_follow_each_other() -> None:
    plan = numbers(3, Shuffle(3, seed=1), Repeat(), Batch(2))
    segments = [batches_by_row(index_completely(plan), 4, segment) for segment in range(10)]
    expected = [batch.tolist() for batch in islice(iterate(plan, 4), 30)]
    assert [batch for segment in segments for batch in segment] == expected


def test_a_segment_may_have_fewer_rows_than_a_batch() -> None:
    plan = index_completely(numbers(2, Repeat(), Batch(5)))
    assert batches_by_row(plan, 0) == [[0, 1, 0, 1, 0], [1, 0, 1, 0, 1]]


def test_passes_and_segments_all_have_their_own_order() -> None:
    plan = index_completely(numbers(20, Shuffle(20, seed=1), Batch(20), Repeat()))
    orders = [plan.pass_batches((k,), segment).rows.tolist() for segment in range(3) for k in range(3)]
    assert len({tuple(order) for order in orders}) == 9


def test_a_dropped_remainder_is_not_among_the_rows() -> None:
    batches = index_completely(numbers(5, Batch(2, drop_remainder=True))).pass_batches((0,))
    assert batches.rows.tolist() == [0, 1, 2, 3]
    assert batches.offsets.tolist() == [0, 2, 4]


def test_a_batch_that_does_not_exist_is_an_error() -> None:
    batches = index_completely(numbers(5, Batch(2))).pass_batches((0,))
    with pytest.raises(IndexError, match="batch 3 of a pass with 3 batches"):
        batches[3]
    assert [batch.tolist() for batch in batches] == [[0, 1], [2, 3], [4]]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("operations", "taken"),
    [
        ([Batch(2), Batch(2)], 1),
        ([Repeat(), Shuffle(5), Batch(2)], 1),
        ([Batch(2), Repeat(), Shuffle(5)], 2),
        ([Batch(2), Repeat(), Repeat(2)], 2),
        ([Repeat(2**25), Batch(2)], 0),
        ([Batch(2), Repeat(2**25)], 1),
        ([Repeat(2**24 - 3), Repeat(), Batch(2)], 0),
        ([Repeat(), Batch(2**26 + 1)], 1),
        ([Repeat(), Skip(3)], 1),
        ([Batch(2), Enumerate()], 1),
        ([Map(abs), Concatenate(numbers(2))], 1),
        ([Concatenate(numbers(2, Map(abs)))], 0),
        ([Concatenate(Plan(ArraySlices(np.zeros(2))))], 0),
        ([Batch(2), Map(abs), Unbatch()], 2),
        ([Batch(2), Shuffle(3), Unbatch()], 2),
        ([Batch(2), Rebatch((1, 3))], 1),
        ([Batch(2), Unbatch(), Shuffle(5)], 2),
        ([Take(3), Filter(bool)], 1),
        ([Concatenate(numbers(4, Batch(2), Unbatch())), Shuffle(9)], 1),
    ],
    ids=lambda case: " ".join(map(str, case)) if isinstance(case, list) else "",
)
def test_the_rest_is_left_to_the_reference_executor(operations: list[Operation], taken: int) -> None:
    assert count_indexed_operations(numbers(5, *operations)) == taken


@pytest.mark.parametrize(
    "operations",
    [
        [],
        [Shuffle(5)],
        [Batch(9, drop_remainder=True), Repeat()],
        [Take(3), Skip(1), Shard(2, 0)],
        [Skip(-1)],
        [Repeat(0)],
        [Repeat(), Take(0)],
        [Shuffle(5, seed=1), Repeat(), Take(13), Shuffle(5, seed=1), Shard(2, 1), Batch(2)],
        [Shuffle(5, seed=1), Batch(2), Repeat(), Take(7), Skip(1)],
        [Concatenate(numbers(4, Shuffle(4, seed=1), Repeat(2))), Shuffle(9, seed=2), Batch(3)],
        [Batch(2), Unbatch(), Batch(3)],
        [Batch(2, True), Rebatch((3,)), Map(np.negative)],
    ],
    ids=lambda operations: " ".join(map(str, operations)) or "no operation",
)
def test_plans_that_are_indexed_completely(operations: list[Operation]) -> None:
    plan = numbers(5, *operations)
    for iteration in range(2):
        assert batches_by_row(index_completely(plan), iteration) == [each.tolist() for each in iterate(plan, iteration)]


def test_zipped_plans_have_a_column_each() -> None:
    left, right = numbers(4, Shuffle(4, seed=1)), numbers(6, Shuffle(6, seed=2), Take(4))
    plan = Plan(ZippedPlans((left, {"y": right})), (Shuffle(4, seed=3), Batch(3)))
    fast = index_completely(plan)
    assert fast.tables == (0, 1)
    for index, (x, rest) in enumerate(iterate(plan, 5)):
        rows = fast.pass_batches((5,))[index]
        assert rows[:, 0].tolist() == x.tolist()
        assert rows[:, 1].tolist() == rest["y"].tolist()


def test_rows_of_batches_are_zipped() -> None:
    branch = numbers(4, Batch(2), Unbatch())
    plan = Plan(ZippedPlans((branch, numbers(5))))
    assert index_completely(plan).num_batches == len([*iterate(plan)]) == 4
    assert count_indexed_operations(plan.then(Shuffle(4, seed=1))) == 0


def test_enumerated_plans_number_their_positions() -> None:
    plan = numbers(4, Shuffle(4, seed=1), Enumerate(10), Shuffle(4, seed=2), Batch(4))
    fast = index_completely(plan)
    ((positions, values),) = iterate(plan)
    positions_leaf, values_leaf = fast.arrays
    rows = fast.pass_batches((0,))[0]
    assert positions_leaf[rows[:, fast.tables[0]]].tolist() == positions.tolist()
    assert values_leaf[rows[:, fast.tables[1]]].tolist() == values.tolist()


def test_a_source_without_rows_has_none() -> None:
    assert index_plan(Plan(GeneratorSource(lambda: iter([1])))) is None
    assert index_plan(Plan(ZippedPlans((numbers(3), Plan(GeneratorSource(lambda: iter([1]))))))) is None


def test_operations_of_other_kinds_are_left_to_the_reference_executor() -> None:
    class Strange(Operation):
        keeps_random_access = True

        def elements(self, upstream: Any, path: Any) -> Any:
            return upstream.open(path)

        def __str__(self) -> str:
            return "strange()"

    assert count_indexed_operations(numbers(5, Take(3), Strange(), Batch(2))) == 1


def test_asking_for_rows_calls_no_map_function() -> None:
    calls = count()
    index_completely(numbers(5, Map(lambda x: next(calls)), Shuffle(5), Batch(2))).pass_batches((0,))
    assert next(calls) == 0
