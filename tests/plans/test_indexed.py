from __future__ import annotations

from itertools import count, islice
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisono.plans import (
    ArraySlices,
    Batch,
    Cache,
    IndexedPlan,
    Map,
    Operation,
    Plan,
    Prefetch,
    Repeat,
    Shuffle,
    indexed,
    iterate,
)


def numbers(size: int, *operations: Operation) -> Plan:
    return Plan(ArraySlices(np.arange(size)), operations)


def accepted(plan: Plan) -> IndexedPlan:
    result = indexed(plan)
    assert result is not None
    return result


def batches_by_row(plan: IndexedPlan, iteration: int, stream: int = 0) -> list[list[int]]:
    """The elements, computed from row numbers and maps alone."""
    result: list[list[int]] = []
    batches = plan.pass_batches(iteration, stream)
    assert batches.rows.dtype == np.int32
    assert batches.offsets.dtype == np.int64
    assert batches.offsets[0] == 0
    assert batches.offsets[-1] == len(batches.rows)
    for index in range(len(batches)):
        batch = plan.arrays[batches[index]]
        for function in plan.element_maps:
            batch = np.stack([function(row) for row in batch])
        for function in plan.batch_maps:
            batch = function(batch)
        result.append(batch.tolist())
    return result


def element_operations() -> st.SearchStrategy[Operation]:
    return st.one_of(
        st.builds(Shuffle, st.just(3), st.integers(-1, 2), st.booleans()),
        st.builds(Repeat, st.sampled_from([1, 2, 3, None])),
        st.builds(Cache),
        st.builds(Prefetch, st.just(2)),
        st.sampled_from([Map(lambda x: x * 3), Map(lambda x: x + 1)]),
    )


@st.composite
def plans_with_one_batch(draw: st.DrawFn) -> Plan:
    before = draw(st.lists(element_operations(), max_size=3))
    batch = Batch(draw(st.integers(1, 6)), draw(st.booleans()))
    after = draw(st.lists(element_operations(), max_size=2))
    return numbers(draw(st.integers(1, 9)), *before, batch, *after)


def should_be_accepted(plan: Plan) -> bool:
    """Reorders nothing and repeats nothing once it repeats without end, and is not empty without end."""
    endless = False
    for operation in plan.operations:
        if endless and isinstance(operation, Shuffle | Repeat):
            return False
        endless = endless or (isinstance(operation, Repeat) and operation.count is None)
    return not endless or plan.cardinality != 0


@settings(max_examples=250, deadline=None)
@given(plan=plans_with_one_batch(), iteration=st.integers(0, 3))
def test_both_executors_give_the_same_elements_in_the_same_order(plan: Plan, iteration: int) -> None:
    fast = indexed(plan)
    assert (fast is not None) == should_be_accepted(plan)
    if fast is None:
        return
    if fast.num_batches is not None:
        expected = [element.tolist() for element in iterate(plan, iteration)]
        assert batches_by_row(fast, iteration) == expected
        assert fast.num_batches == len(expected)
    else:
        windows = [batches_by_row(fast, window, stream=iteration) for window in range(3)]
        given_batches = [batch for window in windows for batch in window]
        expected = [element.tolist() for element in islice(iterate(plan, iteration), len(given_batches))]
        assert given_batches == expected


def test_a_pass_does_not_depend_on_the_passes_before_it() -> None:
    plan = accepted(numbers(50, Shuffle(50, seed=1), Batch(8)))
    late = plan.pass_batches(7).rows.tolist()
    assert [plan.pass_batches(k).rows.tolist() for k in range(8)][7] == late


def test_arrays_are_handed_on_untouched() -> None:
    x, y = np.zeros((4, 2)), jnp.zeros(4)
    plan = accepted(Plan(ArraySlices({"x": x, "y": y}), (Batch(2),)))
    assert plan.arrays["x"] is x
    assert plan.arrays["y"] is y
    assert plan.num_rows == 4


def test_maps_are_sorted_into_those_of_elements_and_those_of_batches() -> None:
    first, second, third = (lambda x: x), (lambda x: x), (lambda x: x)
    plan = accepted(numbers(4, Map(first), Shuffle(4), Map(second), Batch(2, True), Map(third)))
    assert plan.element_maps == (first, second)
    assert plan.batch_maps == (third,)
    assert (plan.batch_size, plan.drop_remainder) == (2, True)


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
    assert accepted(numbers(4, *operations)).num_cached_maps == cached


def test_an_endless_repeat_after_the_batch_has_one_round_per_window() -> None:
    plan = accepted(numbers(5, Batch(2), Repeat()))
    assert plan.num_batches is None
    assert batches_by_row(plan, 0) == batches_by_row(plan, 1) == [[0, 1], [2, 3], [4]]


def test_an_endless_repeat_before_the_batch_runs_across_the_ends_of_rounds() -> None:
    plan = accepted(numbers(3, Repeat(), Batch(2)))
    assert plan.rounds_per_window == 2
    assert batches_by_row(plan, 0) == [[0, 1], [2, 0], [1, 2]]


def test_windows_of_several_shuffled_rounds_follow_each_other() -> None:
    plan = numbers(3, Shuffle(3, seed=1), Repeat(), Batch(2))
    windows = [batches_by_row(accepted(plan), window, stream=4) for window in range(10)]
    expected = [batch.tolist() for batch in islice(iterate(plan, 4), 30)]
    assert [batch for window in windows for batch in window] == expected


def test_a_window_may_be_shorter_than_a_batch_is_long() -> None:
    plan = accepted(numbers(2, Repeat(), Batch(5)))
    assert batches_by_row(plan, 0) == [[0, 1, 0, 1, 0], [1, 0, 1, 0, 1]]


def test_streams_and_windows_all_have_their_own_order() -> None:
    plan = accepted(numbers(20, Shuffle(20, seed=1), Batch(20), Repeat()))
    orders = [plan.pass_batches(window, stream).rows.tolist() for window in range(3) for stream in range(3)]
    assert len({tuple(order) for order in orders}) == 9


def test_a_dropped_remainder_is_not_among_the_rows() -> None:
    batches = accepted(numbers(5, Batch(2, drop_remainder=True))).pass_batches(0)
    assert batches.rows.tolist() == [0, 1, 2, 3]
    assert batches.offsets.tolist() == [0, 2, 4]


def test_a_batch_that_does_not_exist_is_an_error() -> None:
    batches = accepted(numbers(5, Batch(2))).pass_batches(0)
    with pytest.raises(IndexError, match="batch 3 of a pass with 3 batches"):
        batches[3]
    assert [batch.tolist() for batch in batches] == [[0, 1], [2, 3], [4]]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "operations",
    [
        [],
        [Shuffle(5)],
        [Batch(2), Batch(2)],
        [Repeat(), Shuffle(5), Batch(2)],
        [Batch(2), Repeat(), Shuffle(5)],
        [Batch(2), Repeat(), Repeat(2)],
        [Batch(9, drop_remainder=True), Repeat()],
        [Repeat(2**25), Batch(2)],
        [Batch(2), Repeat(2**25)],
        [Repeat(2**24 - 3), Repeat(), Batch(2)],
        [Repeat(), Batch(2**26 + 1)],
    ],
    ids=lambda operations: " ".join(map(str, operations)) or "no operation",
)
def test_other_plans_are_left_to_the_reference_executor(operations: list[Operation]) -> None:
    assert indexed(numbers(5, *operations)) is None


def test_operations_of_other_kinds_are_left_to_the_reference_executor() -> None:
    class Strange(Operation):
        def cardinality(self, upstream: int) -> int:
            return upstream

        def elements(self, upstream: Any, path: Any) -> Any:
            return upstream.elements(path)

        def __str__(self) -> str:
            return "strange()"

    assert indexed(numbers(5, Strange(), Batch(2))) is None


def test_asking_for_rows_calls_no_map_function() -> None:
    calls = count()
    accepted(numbers(5, Map(lambda x: next(calls)), Shuffle(5), Batch(2))).pass_batches(0)
    assert next(calls) == 0
