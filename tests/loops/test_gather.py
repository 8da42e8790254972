"""`gather` across replicas, `all_gather` among them, and the gradient through the latter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy

from ._replicas import batches, local, per_replica, rows

pytestmark = pytest.mark.slow

Called = Callable[[Callable[..., Any]], Callable[..., Any]]

SHAPES_AND_AXES = [((3,), 0), ((1, 3), 0), ((1, 3), 1), ((1, 2, 2), 0), ((1, 2, 2), 1), ((1, 2, 2), 2)]


def replica_arrays(shape: tuple[int, ...], number: int) -> list[Any]:
    """An array for each replica, without equal elements."""
    return list(np.arange(number * np.prod(shape), dtype=np.float32).reshape(number, *shape))


@pytest.mark.parametrize(("shape", "axis"), SHAPES_AND_AXES, ids=str)
def test_parts_are_joined_along_an_axis_in_the_order_of_the_replicas(
    strategy: Strategy, called: Called, shape: tuple[int, ...], axis: int
) -> None:
    given = replica_arrays(shape, strategy.num_replicas_in_sync)
    found = called(lambda x: strategy.gather(x, axis=axis))(per_replica(strategy, given))
    np.testing.assert_array_equal(found, np.concatenate(given, axis))


@pytest.mark.parametrize("axis", [0, 1])
def test_parts_of_different_lengths_are_joined_along_that_axis(strategy: Strategy, called: Called, axis: int) -> None:
    """Shapes (1, 1), (2, 1), … along the first axis; (1, 1), (1, 2), … along the second."""
    number = strategy.num_replicas_in_sync
    given = [np.full((i + 1, 1) if axis == 0 else (1, i + 1), i, np.int32) for i in range(number)]
    found = called(lambda x: strategy.gather(x, axis=axis))(per_replica(strategy, given))
    np.testing.assert_array_equal(found, np.concatenate(given, axis))


@pytest.mark.parametrize(
    "shape", [lambda i: (1, i + 1), lambda i: tuple(range(1, i + 2))], ids=["another-length", "another-rank"]
)
def test_parts_that_differ_elsewhere_cannot_be_joined(several: Strategy, called: Called, shape: Any) -> None:
    value = per_replica(several, [np.ones(shape(i), np.float32) for i in range(several.num_replicas_in_sync)])
    with pytest.raises(ValueError, match=r"(?i)shape|dimension|rank"):
        called(lambda x: several.gather(x, axis=0))(value)


def test_numbers_without_an_axis_cannot_be_joined(several: Strategy) -> None:
    with pytest.raises(ValueError, match=r"(?i)axis|dimension|rank"):
        several.gather(several.run(lambda: jnp.ones(())), axis=0)


def test_the_rows_of_an_uneven_batch_come_back_in_their_order(strategy: Strategy, called: Called) -> None:
    data = np.arange(10, dtype=np.float32).reshape(5, 2)
    with iter(batches(strategy, data, 8)) as iterator:
        batch = next(iterator)
    np.testing.assert_array_equal(called(lambda x: strategy.gather(x, axis=0))(batch), data)
    doubled = called(lambda x: strategy.gather(strategy.run(lambda x: 2 * x, args=(x,)), axis=0))(batch)
    np.testing.assert_array_equal(doubled, 2 * data)


def test_with_one_replica_there_is_nothing_to_join(alone: Strategy, called: Called) -> None:
    assert np.asarray(called(lambda: alone.gather(jnp.asarray([1.0, 2.0]), axis=0))()).tolist() == [1.0, 2.0]
    assert local(alone, called(lambda: alone.run(lambda: all_gather(jnp.ones((1, 2)), 0)))()) == [[[1.0, 1.0]]]


# Among the replicas


def all_gather(value: Any, axis: int) -> Any:
    return unisono.get_replica_context().all_gather(value, axis=axis)


@pytest.mark.parametrize(("shape", "axis"), SHAPES_AND_AXES, ids=str)
def test_every_replica_gets_the_parts_of_all(
    strategy: Strategy, called: Called, shape: tuple[int, ...], axis: int
) -> None:
    number = strategy.num_replicas_in_sync
    given = replica_arrays(shape, number)
    found = called(lambda x: strategy.run(all_gather, args=(x, axis)))(per_replica(strategy, given))
    assert local(strategy, found) == [np.concatenate(given, axis).tolist()] * number


def test_a_nest_is_gathered_leaf_by_leaf(strategy: Strategy, called: Called) -> None:
    number = strategy.num_replicas_in_sync
    given = replica_arrays((1, 2), number)
    constant = np.float32([[[1, 2], [3, 4]]])

    def step(x: Any) -> Any:
        return unisono.get_replica_context().all_gather([x, {"constant": jnp.asarray(constant)}], axis=1)

    first, second = called(lambda x: strategy.run(step, args=(x,)))(per_replica(strategy, given))
    assert local(strategy, first) == [np.concatenate(given, 1).tolist()] * number
    assert local(strategy, second["constant"]) == [np.concatenate([constant] * number, 1).tolist()] * number


def test_replicas_with_different_numbers_of_rows_gather_all_rows(several: Strategy, called: Called) -> None:
    """TensorFlow gives every replica all rows. Here one replica processes all rows, and its rows are split back."""
    given = [np.full((i + 1, 1), i, np.float32) for i in range(several.num_replicas_in_sync)]
    found = called(lambda x: several.run(all_gather, args=(x, 0)))(per_replica(several, given))
    assert rows(several, found) == np.concatenate(given).tolist()


@pytest.mark.parametrize("nested", [False, True])
def test_the_gradient_of_a_part_is_the_sum_over_the_replicas_that_used_it(strategy: Strategy, nested: bool) -> None:
    """Replica i multiplies what all gathered by i + 1."""
    number = strategy.num_replicas_in_sync

    @unisono.function
    def step(c: Any) -> Any:
        x = jnp.asarray([[3.0], [5.0]])
        with unisono.GradientTape() as tape:
            tape.watch(x)
            context = unisono.get_replica_context()
            gathered = context.all_gather([x, jnp.ones((2, 1))], axis=1)[0] if nested else context.all_gather(x, axis=1)
            y = gathered * c
        return tape.gradient(y, x)

    found = strategy.run(step, args=(per_replica(strategy, [np.float32([i + 1]) for i in range(number)]),))
    total = sum(range(1, number + 1))
    assert local(strategy, found) == [[[total], [total]]] * number
