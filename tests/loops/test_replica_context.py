"""The replica context: which one is in force where, and what replicas tell each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy

from ._replicas import batches, copies, local, per_replica, replica_id

pytestmark = pytest.mark.slow

Called = Callable[[Callable[..., Any]], Callable[..., Any]]


def test_outside_of_every_scope_there_is_one_replica() -> None:
    context = unisono.get_replica_context()
    assert (int(context.replica_id_in_sync_group), context.num_replicas_in_sync) == (0, 1)
    assert context.strategy is unisono.get_strategy()
    assert not unisono.in_cross_replica_context()
    assert float(context.all_reduce("SUM", jnp.asarray(2.0))) == 2.0
    assert context.merge_call(lambda strategy, x: (unisono.in_cross_replica_context(), x + 1), args=(1,)) == (True, 2)


def test_inside_of_a_scope_there_is_none(strategy: Strategy) -> None:
    with strategy.scope():
        assert unisono.get_replica_context() is None
        assert unisono.in_cross_replica_context()
    assert unisono.get_replica_context() is not None


def test_the_numbers_are_those_of_the_devices_each_once(strategy: Strategy, called: Called) -> None:
    result = called(lambda: strategy.run(lambda: replica_id("int32")))()
    assert local(strategy, result) == list(range(len(strategy.extended.worker_devices)))


def test_an_uneven_batch_is_seen_whole_by_one_replica(several: Strategy, called: Called) -> None:
    """Unlike TensorFlow, where each replica sees what is left for it, if only an array of no rows."""
    seen = []

    def step(x: Any) -> Any:
        context = unisono.get_replica_context()
        seen.append((x.shape, context.num_replicas_in_sync, unisono.get_strategy().num_replicas_in_sync))
        return x

    for batch in batches(several, np.ones((several.num_replicas_in_sync + 1, 2), np.float32), 8):
        called(lambda batch: several.run(step, args=(batch,)))(batch)
    assert set(seen) == {((several.num_replicas_in_sync + 1, 2), 1, 1)}
    assert several.num_replicas_in_sync > 1


# all_reduce

EXPECTED = {  # what replica i has: i + 1 and [39 - 37 i, 3 + 38 i]
    ("SUM", 2): (3.0, [41.0, 44.0]),
    ("MEAN", 2): (1.5, [20.5, 22.0]),
    ("SUM", 4): (10.0, [-66.0, 240.0]),
    ("MEAN", 4): (2.5, [-16.5, 60.0]),
}


@pytest.mark.parametrize("op", ["SUM", "MEAN"])
def test_every_replica_gets_the_sum_or_the_mean_of_all(several: Strategy, called: Called, op: str) -> None:
    number = several.num_replicas_in_sync

    def step() -> Any:
        i = replica_id()
        nest = (i + 1, {"vector": jnp.stack([39 - 37 * i, 3 + 38 * i])})
        return unisono.get_replica_context().all_reduce(unisono.ReduceOp[op], nest)

    scalar, nested = called(lambda: several.run(step))()
    assert local(several, scalar) == [EXPECTED[op, number][0]] * number
    assert local(several, nested["vector"]) == [EXPECTED[op, number][1]] * number


def test_one_replica_reduces_to_what_it_has(alone: Strategy, called: Called) -> None:
    result = called(lambda: alone.run(lambda: unisono.get_replica_context().all_reduce("mean", jnp.ones(2))))()
    assert np.asarray(result).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("op", ["SUM", "MEAN"])
def test_the_gradient_goes_back_through_the_reduction(strategy: Strategy, called: Called, op: str) -> None:
    """Replica i multiplies the reduced value by 2 i + 1, so d/dx is their sum, or their mean."""
    number = strategy.num_replicas_in_sync
    factors = per_replica(strategy, [np.float32(2 * i + 1) for i in range(number)])

    def step(c: Any) -> Any:
        x = jnp.asarray(42.0)
        with unisono.GradientTape() as tape:
            tape.watch(x)
            y = unisono.get_replica_context().all_reduce(op, x) * c
        return tape.gradient(y, x)

    result = called(lambda c: strategy.run(step, args=(c,)))(factors)
    total = sum(2 * i + 1 for i in range(number))
    assert local(strategy, result) == [total if op == "SUM" else total / number] * number


def test_a_mirrored_variable_counts_once_for_each_replica(several: Strategy, called: Called) -> None:
    with several.scope():
        v = keras.Variable(2.0, aggregation="mean", trainable=False)
    number = several.num_replicas_in_sync
    result = called(lambda: several.run(lambda: unisono.get_replica_context().all_reduce("SUM", v) + replica_id()))()
    assert local(several, result) == [2.0 * number + i for i in range(number)]


def test_a_variable_read_on_demand_counts_with_the_part_of_each_replica(several: Strategy, called: Called) -> None:
    with several.scope():
        v = keras.Variable(0.0, synchronization="on_read", aggregation="only_first_replica", trainable=False)

    def step() -> Any:
        v.assign(3 * replica_id())
        return unisono.get_replica_context().all_reduce("SUM", v)

    number = several.num_replicas_in_sync
    assert local(several, called(lambda: several.run(step))()) == [3.0 * sum(range(number))] * number


# merge_call


def test_the_merged_function_sees_all_replicas_and_is_outside_of_them(strategy: Strategy, called: Called) -> None:
    seen = []

    def merged(given: Strategy, value: Any, constant: Any) -> Any:
        seen.append(
            (
                given is strategy,
                unisono.get_replica_context() is None,
                unisono.in_cross_replica_context(),
                isinstance(value, unisono.DistributedValues) == (strategy.num_replicas_in_sync > 1),
                constant,
            )
        )
        return given.reduce("SUM", value, axis=None)

    def step() -> Any:
        context = unisono.get_replica_context()
        total = context.merge_call(merged, args=(replica_id() + 1,), kwargs={"constant": 5})
        assert unisono.get_replica_context() is not None
        return total + replica_id()

    number = strategy.num_replicas_in_sync
    result = called(lambda: strategy.run(step))()
    assert local(strategy, result) == [sum(range(1, number + 1)) + i for i in range(number)]
    assert set(seen) == {(True, True, True, True, 5)}


def test_what_it_returns_is_taken_apart_for_the_replicas(strategy: Strategy, called: Called) -> None:
    def merged(given: Strategy, value: Any) -> Any:
        return {"own": given.run(lambda x: 10 * x, args=(value,)), "same": jnp.asarray(7.0), "nothing": None}

    def step() -> Any:
        result = unisono.get_replica_context().merge_call(merged, args=(replica_id(),))
        assert result["nothing"] is None
        return result["own"] + result["same"]

    result = called(lambda: strategy.run(step))()
    assert local(strategy, result) == [10.0 * i + 7 for i in range(strategy.num_replicas_in_sync)]


def test_a_merged_function_that_returns_nothing(strategy: Strategy, called: Called) -> None:
    @unisono.function
    def step() -> Any:
        assert unisono.get_replica_context().merge_call(lambda given: None) is None
        return jnp.zeros(())

    assert local(strategy, called(lambda: strategy.run(step))()) == [0.0] * strategy.num_replicas_in_sync


def test_a_function_inside_of_the_step_may_merge(strategy: Strategy) -> None:
    """TensorFlow refuses: its threads cannot wait for each other in the middle of a trace."""

    @unisono.function
    def inner() -> Any:
        return unisono.get_replica_context().merge_call(lambda s, x: s.reduce("SUM", x, axis=None), (jnp.ones(()),))

    result = unisono.function(lambda: strategy.run(lambda: inner() + 1))()
    assert local(strategy, result) == [strategy.num_replicas_in_sync + 1.0] * strategy.num_replicas_in_sync


def test_variables_are_assigned_in_the_merged_function_as_in_a_scope(strategy: Strategy, called: Called) -> None:
    with strategy.scope():
        v = keras.Variable(0.0, aggregation="sum", trainable=False)

    def merged(given: Strategy, value: Any) -> None:
        v.assign(given.reduce("MEAN", value, axis=None))

    def step() -> Any:
        unisono.get_replica_context().merge_call(merged, args=(replica_id() + 1,))
        return v.value

    number = strategy.num_replicas_in_sync
    result = called(lambda: strategy.run(step))()
    assert local(strategy, result) == copies(v) == [(number + 1) / 2] * number


class _UserError(Exception):
    pass


def _fails(*_: Any) -> None:
    raise _UserError


def _merges_and_fails() -> None:
    unisono.get_replica_context().merge_call(_fails)


def _runs_and_fails(strategy: Strategy) -> None:
    strategy.run(_fails)


def _runs_merges_and_fails(strategy: Strategy) -> None:
    strategy.run(_merges_and_fails)


STEPS = {
    "in-the-step": _fails,
    "in-the-merged-function": _merges_and_fails,
    "in-a-run-inside-of-it": lambda: unisono.get_replica_context().merge_call(_runs_and_fails),
    "in-a-merged-function-inside-of-that": lambda: unisono.get_replica_context().merge_call(_runs_merges_and_fails),
}


@pytest.mark.parametrize("where", STEPS)
def test_an_exception_comes_out_from_any_depth_and_every_context_is_left(
    strategy: Strategy, called: Called, where: str
) -> None:
    with pytest.raises(_UserError):
        called(lambda: strategy.run(STEPS[where]))()
    assert not unisono.has_strategy()
    assert not unisono.in_cross_replica_context()
    with strategy.scope(), pytest.raises(_UserError):
        called(lambda: strategy.run(STEPS[where]))()
    assert not unisono.has_strategy()


@pytest.mark.parametrize(("taken", "expected"), [(True, 7.0), (False, 5.0)])
def test_an_assignment_in_a_branch_of_a_merge_call_counts_once(
    strategy: Strategy, taken: bool, expected: float
) -> None:
    with strategy.scope():
        total = keras.Variable(5.0, trainable=False, synchronization="on_read", aggregation="sum")

    def merged(given: Strategy, condition: Any) -> None:
        keras.ops.cond(condition, lambda: total.assign(7.0), lambda: total.value)

    @unisono.function
    def step(condition: Any) -> None:
        strategy.run(lambda: unisono.get_replica_context().merge_call(lambda given: merged(given, condition)))

    step(np.bool_(taken))
    assert float(total.value) == expected
