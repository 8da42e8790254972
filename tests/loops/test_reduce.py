"""`reduce`, `reduce_to`, `batch_reduce_to`: one value out of what the replicas have."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy

from ._replicas import batches, local, per_replica, replica_id

pytestmark = pytest.mark.slow

Called = Callable[[Callable[..., Any]], Callable[..., Any]]
SUM, MEAN = unisono.ReduceOp.SUM, unisono.ReduceOp.MEAN


@pytest.mark.parametrize("inside", [True, False], ids=["in-scope", "out-of-scope"])
def test_the_sum_and_the_mean_over_replicas(strategy: Strategy, called: Called, inside: bool) -> None:
    number = strategy.num_replicas_in_sync
    value = per_replica(strategy, [np.float32([i, 1]) for i in range(number)])
    with strategy.scope() if inside else contextlib.nullcontext():
        total = called(lambda x: strategy.reduce(SUM, x, axis=None))(value)
        mean = called(lambda x: strategy.reduce(MEAN, x, axis=None))(value)
    assert np.asarray(total).tolist() == [sum(range(number)), number]
    assert np.asarray(mean).tolist() == [sum(range(number)) / number, 1.0]


def test_the_numbers_of_the_replicas_that_ran_are_summed(strategy: Strategy, called: Called) -> None:
    total = called(lambda: strategy.reduce(SUM, strategy.run(replica_id), axis=None))()
    assert float(total) == sum(range(strategy.num_replicas_in_sync))


@pytest.mark.parametrize("op", ["SUM", "sum", SUM, "MEAN", "mean", MEAN], ids=str)
def test_the_operation_is_a_member_or_its_name(pair: Strategy, op: Any) -> None:
    found = pair.reduce(op, per_replica(pair, [np.float32(1), np.float32(3)]), axis=None)
    assert float(found) == (4.0 if op in ("SUM", "sum", SUM) else 2.0)


def test_another_operation_is_refused(strategy: Strategy) -> None:
    with pytest.raises(ValueError, match=r"(?i)max"):
        strategy.reduce("max", per_replica(strategy, [1.0] * strategy.num_replicas_in_sync), axis=None)


def test_an_axis_is_reduced_together_with_the_replicas(strategy: Strategy, called: Called) -> None:
    x = strategy.run(lambda: jnp.asarray([1.0, 2.0]))
    assert float(called(lambda x: strategy.reduce(MEAN, x, axis=0))(x)) == 1.5
    assert float(called(lambda x: strategy.reduce(SUM, x, axis=0))(x)) == 3 * strategy.num_replicas_in_sync


@pytest.mark.parametrize(("axis", "mean"), [(0, [2.0, 3.0, 4.0]), (1, [2.0, 4.0]), (-1, [2.0, 4.0]), ((0, 1), 3.0)])
def test_any_axis_of_several(pair: Strategy, called: Called, axis: Any, mean: Any) -> None:
    value = pair.run(lambda: jnp.asarray([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]))
    assert np.asarray(called(lambda x: pair.reduce(MEAN, x, axis=axis))(value)).tolist() == mean
    total = np.asarray([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]).sum(axis) * 2
    np.testing.assert_array_equal(called(lambda x: pair.reduce(SUM, x, axis=axis))(value), total)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_replicas_of_different_lengths_count_by_their_elements(strategy: Strategy, called: Called, dtype: str) -> None:
    """Replica i has i + 1 times the number i."""
    number = strategy.num_replicas_in_sync
    value = per_replica(strategy, [np.full(i + 1, i, dtype) for i in range(number)])
    total = sum(i * (i + 1) for i in range(number))
    count = sum(i + 1 for i in range(number))
    assert float(called(lambda x: strategy.reduce(SUM, x, axis=0))(value)) == total
    assert float(called(lambda x: strategy.reduce(MEAN, x, axis=0))(value)) == pytest.approx(total / count, rel=1e-6)


def test_replicas_of_different_lengths_have_no_sum_without_an_axis(several: Strategy) -> None:
    value = per_replica(several, [np.ones(i + 1, np.float32) for i in range(several.num_replicas_in_sync)])
    with pytest.raises(ValueError, match="axis"):
        several.reduce(SUM, value, axis=None)


@pytest.mark.parametrize("where", ["outside", "inside"])
def test_an_uneven_batch_has_the_mean_of_its_rows(strategy: Strategy, where: str) -> None:
    """Three rows in a global batch of four: neither replica is empty with two, one is with four."""
    reduced = unisono.function(lambda x: strategy.reduce(MEAN, x, axis=0))
    taken = unisono.function(lambda iterator: strategy.reduce(MEAN, next(iterator), axis=0))
    for data, mean in [(np.float32([5, 6, 7]), 6.0), (np.ones((3, 2), np.float32), [1.0, 1.0])]:
        with iter(batches(strategy, data, 4)) as iterator:
            found = reduced(next(iterator)) if where == "outside" else taken(iterator)
        assert np.asarray(found).tolist() == mean


def test_a_nest_is_reduced_leaf_by_leaf(strategy: Strategy, called: Called) -> None:
    number = strategy.num_replicas_in_sync
    value = strategy.run(lambda: {"a": jnp.ones(2), "b": (jnp.asarray(3.0),)})
    found = called(lambda x: strategy.reduce(SUM, x, axis=None))(value)
    assert np.asarray(found["a"]).tolist() == [number, number]
    assert float(found["b"][0]) == 3 * number


def test_a_plain_value_is_its_own_mean_and_has_no_sum(several: Strategy) -> None:
    """TensorFlow's rule: whether to count it once or once for each replica cannot be known."""
    assert float(several.reduce(MEAN, jnp.asarray(1.5), axis=None)) == 1.5
    with pytest.raises(ValueError, match=r"(?i)sum"):
        several.reduce(SUM, jnp.asarray(1.5), axis=None)
    assert float(several.reduce(MEAN, np.float32([1, 2]), axis=0)) == 1.5
    with pytest.raises(ValueError, match=r"(?i)sum"):
        several.reduce(SUM, np.float32([1, 2]), axis=0)


def test_with_one_replica_a_value_is_its_own_sum(alone: Strategy, called: Called) -> None:
    x = jnp.asarray([1.0, 2.0])
    assert np.asarray(called(lambda x: alone.reduce(SUM, x, axis=None))(x)).tolist() == [1.0, 2.0]
    assert float(called(lambda x: alone.reduce(SUM, x, axis=0))(x)) == 3.0
    assert float(called(lambda x: alone.reduce(MEAN, x, axis=0))(x)) == 1.5


def test_reduced_to_a_destination_every_copy_is_the_reduced_value(strategy: Strategy, called: Called) -> None:
    number = strategy.num_replicas_in_sync
    value = strategy.run(lambda: jnp.asarray([1.0, 2.0]) * (replica_id() + 1))
    total = sum(range(1, number + 1))
    one = called(lambda x: strategy.extended.reduce_to(SUM, x, destinations=x))(value)
    many = called(lambda x: strategy.extended.batch_reduce_to(MEAN, [(x, x), (x, x)]))(value)
    assert all(each == [total, 2 * total] for each in local(strategy, one))
    assert len(many) == 2
    for mean in many:
        assert all(each == [total / number, 2 * total / number] for each in local(strategy, mean))
