"""Distributed input in loops: each form in which a step may get its batch, and batches that are not even."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import OutOfRangeError, Strategy
from unisono.data import Dataset

from ._replicas import batches, local, per_replica, replica_id, rows

pytestmark = pytest.mark.slow

DATA = np.float32([5, 6, 7, 8])


def square(x: Any) -> Any:
    return x * x


# The forms of a loop. Each gives the results of all steps.


def everything_eager(strategy: Strategy, distributed: Any) -> list[Any]:
    return [strategy.run(square, args=(x,)) for x in distributed]


def function_in_run(strategy: Strategy, distributed: Any) -> list[Any]:
    step = unisono.function(square)
    return [strategy.run(step, args=(x,)) for x in distributed]


def run_in_function(strategy: Strategy, distributed: Any) -> list[Any]:
    step = unisono.function(lambda x: strategy.run(square, args=(x,)))
    return [step(x) for x in distributed]


def next_outside(strategy: Strategy, distributed: Any) -> list[Any]:
    step = unisono.function(lambda x: strategy.run(square, args=(x,)))
    iterator = iter(distributed)
    return [step(next(iterator)) for _ in range(2)]


def next_inside(strategy: Strategy, distributed: Any) -> list[Any]:
    step = unisono.function(lambda iterator: strategy.run(square, args=(next(iterator),)))
    iterator = iter(distributed)
    return [step(iterator) for _ in range(2)]


def get_next_inside(strategy: Strategy, distributed: Any) -> list[Any]:
    step = unisono.function(lambda iterator: strategy.run(square, args=(iterator.get_next(),)))
    iterator = iter(distributed)
    return [step(iterator) for _ in range(2)]


def optional_inside(strategy: Strategy, distributed: Any) -> list[Any]:
    step = unisono.function(lambda iterator: strategy.run(square, args=(iterator.get_next_as_optional().get_value(),)))
    iterator = iter(distributed)
    return [step(iterator) for _ in range(2)]


def iterator_made_inside(strategy: Strategy, distributed: Any) -> list[Any]:
    @unisono.function
    def steps(distributed: Any) -> Any:
        iterator = iter(distributed)
        return [strategy.run(square, args=(next(iterator),)) for _ in range(2)]

    return list(steps(distributed))


def dataset_inside(strategy: Strategy, distributed: Any) -> list[Any]:
    @unisono.function
    def steps(distributed: Any) -> Any:
        return [strategy.run(square, args=(x,)) for x in distributed]

    return list(steps(distributed))


FORMS = [
    everything_eager,
    function_in_run,
    run_in_function,
    next_outside,
    next_inside,
    get_next_inside,
    optional_inside,
    iterator_made_inside,
    dataset_inside,
]
every_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)


@every_form
def test_every_form_of_a_loop_sees_every_row_once(strategy: Strategy, form: Callable[..., list[Any]]) -> None:
    """Two steps of two rows. With four replicas two of them have none."""
    results = form(strategy, batches(strategy, DATA, 2))
    assert [rows(strategy, result) for result in results] == [[25.0, 36.0], [49.0, 64.0]]


@every_form
def test_every_form_of_a_loop_ends_with_a_smaller_batch(strategy: Strategy, form: Callable[..., list[Any]]) -> None:
    results = form(strategy, batches(strategy, DATA[:3], 2))
    assert [rows(strategy, result) for result in results] == [[25.0, 36.0], [49.0]]


def test_a_loop_inside_a_function_ends_where_the_optional_is_empty(strategy: Strategy) -> None:
    distributed = strategy.experimental_distribute_dataset(Dataset.range(8).batch(2))

    @unisono.function
    def train(iterator: Any) -> Any:
        total = 0
        for _ in range(6):
            batch = iterator.get_next_as_optional()
            if not batch.has_value():
                break
            total += strategy.reduce("SUM", strategy.run(lambda x: x, args=(batch.get_value(),)), axis=0)
        return total

    assert int(train(iter(distributed))) == 28


def test_two_loops_over_one_dataset_inside_a_function(strategy: Strategy) -> None:
    """The first accumulates, the second only has effects."""
    with strategy.scope():
        steps = keras.Variable(1.0, aggregation="only_first_replica", trainable=False)

    def step(_: Any) -> None:
        steps.assign_add(1.0)

    @unisono.function
    def train(distributed: Any) -> Any:
        number, product = jnp.zeros(()), jnp.asarray(2.0)
        for x in distributed:
            number += 1
            product *= strategy.reduce("MEAN", x, axis=0)
        for y in distributed:
            strategy.run(step, args=(y,))
        return number, product

    number, product = train(batches(strategy, DATA, 2))
    assert float(number) == 2
    assert float(product) == pytest.approx(2 * 5.5 * 7.5, abs=1e-3)
    assert float(steps.numpy()) == 3.0


def test_the_end_of_the_data_comes_out_of_the_function_and_no_step_is_lost(strategy: Strategy) -> None:
    with strategy.scope():
        total = keras.Variable(0.0, aggregation="sum", trainable=False)

    def step(x: Any) -> None:
        total.assign_add(jnp.sum(x))

    @unisono.function
    def train(iterator: Any) -> Any:
        strategy.run(step, args=(next(iterator),))
        return total.value

    iterator = iter(batches(strategy, DATA, 2))
    assert [float(train(iterator)) for _ in range(2)] == [11.0, 26.0]
    for _ in range(2):
        with pytest.raises((OutOfRangeError, StopIteration)):
            train(iterator)
    assert float(total.numpy()) == 26.0


def test_a_function_reads_its_iterator_twice_in_one_call(strategy: Strategy) -> None:
    """Elements 2, 3, 2, 3 … are assigned one by one. The second step of one replica has 3, of more 2 and 3 by half."""
    data = strategy.distribute_datasets_from_function(
        lambda context: Dataset.from_tensor_slices(np.float32([2, 3])).repeat(5)
    )
    with strategy.scope():
        v = keras.Variable(1.0)

    @unisono.function
    def train(iterator: Any) -> Any:
        for _ in range(2):
            mean = strategy.reduce("MEAN", strategy.run(lambda x: x * x + v, args=(next(iterator),)), axis=None)
        return mean

    with strategy.scope(), iter(data) as iterator:
        assert float(train(iterator)) == (10.0 if strategy.num_replicas_in_sync == 1 else 7.5)


# Steps that are written inside the loop: another one if what they refer to is another


def in_a_loop(strategy: Strategy, make: Callable[[int], Callable[..., Any]]) -> list[float]:
    """The rows 0 … 3 in twos: the sums are 1 and 5, whatever `make(iteration)` does with them."""

    @unisono.function
    def train(distributed: Any) -> Any:
        steps = [(iteration, x) for iteration, x in enumerate(distributed, start=1)]
        return [strategy.reduce("SUM", strategy.run(make(iteration), args=(x,)), axis=None) for iteration, x in steps]

    distributed = strategy.experimental_distribute_dataset(Dataset.range(4).batch(2))
    return [float(result) for result in train(distributed)]


def closes_over_a_number(iteration: int) -> Callable[..., Any]:
    return lambda x: iteration * jnp.sum(x)


def closes_over_an_array(iteration: int) -> Callable[..., Any]:
    factor = np.float32(iteration) * np.ones(1, np.float32)
    return lambda x: factor[0] * jnp.sum(x)


def has_a_default(iteration: int) -> Callable[..., Any]:
    def step(x: Any, factor: float = iteration) -> Any:
        return factor * jnp.sum(x)

    return step


def has_an_array_as_default(iteration: int) -> Callable[..., Any]:
    def step(x: Any, factor: Any = np.full(1, iteration, np.float32)) -> Any:  # noqa: B008
        return factor[0] * jnp.sum(x)

    return step


def has_a_default_by_name(iteration: int) -> Callable[..., Any]:
    def step(x: Any, *, factor: float = iteration) -> Any:
        return factor * jnp.sum(x)

    return step


def is_partial(iteration: int) -> Callable[..., Any]:
    return functools.partial(lambda factor, x: factor * jnp.sum(x), iteration)


STEPS = [
    closes_over_a_number,
    closes_over_an_array,
    has_a_default,
    has_an_array_as_default,
    has_a_default_by_name,
    is_partial,
]


@pytest.mark.parametrize("make", STEPS, ids=lambda make: make.__name__)
def test_a_step_defined_again_in_every_iteration_uses_its_own_values(pair: Strategy, make: Any) -> None:
    assert in_a_loop(pair, make) == [1.0, 10.0]


# What a step gets


@pytest.mark.parametrize("where", ["outside", "inside"])
def test_the_elements_of_a_function_are_dealt_to_the_devices(strategy: Strategy, where: str) -> None:
    number = strategy.num_replicas_in_sync
    data = strategy.distribute_datasets_from_function(lambda context: Dataset.from_tensor_slices(DATA))
    take = unisono.function(lambda iterator: strategy.experimental_local_results(iterator.get_next()))
    with iter(data) as iterator:
        found = take(iterator) if where == "inside" else strategy.experimental_local_results(iterator.get_next())
    assert [float(value) for value in found] == DATA[:number].tolist()
    assert [value.devices() for value in found] == [{device} for device in strategy.placement.devices]


@pytest.mark.parametrize(("size", "drop", "first"), [(2, True, [5, 6]), (1, True, [5]), (2, False, [5, 6])])
def test_a_batch_is_split_whether_or_not_it_divides(strategy: Strategy, size: int, drop: bool, first: list) -> None:
    with iter(batches(strategy, DATA[:2], size, drop_remainder=drop)) as iterator:
        assert rows(strategy, next(iterator)) == first


def test_tuples_of_a_batch_reach_the_function_whole(strategy: Strategy) -> None:
    data = ({"x": DATA}, 10 * DATA)
    for batch in batches(strategy, data, 4):
        result = strategy.run(lambda inputs: inputs[0]["x"] + inputs[1], args=(batch,))
        assert rows(strategy, result) == (11 * DATA).tolist()


# Batches that are not even: one replica sees all rows


def mean_of(strategy: Strategy, options: Any = None) -> Callable[..., Any]:
    return unisono.function(lambda batch: strategy.run(jnp.mean, args=(batch,), options=options))


@pytest.mark.parametrize("given", [False, True], ids=["no-options", "options"])
def test_an_uneven_batch_is_computed_whole_and_the_first_replica_has_it(pair: Strategy, given: bool) -> None:
    """TensorFlow has the mean of each replica's rows, 5.5 and 7, whose mean is not the mean of the rows."""
    options = unisono.RunOptions(experimental_bucketizing_dynamic_shape=True) if given else None
    (batch,) = batches(pair, DATA[:3], 4)
    result = mean_of(pair, options)(batch)
    assert local(pair, result) == [6.0, 0.0]
    assert float(pair.reduce("SUM", result, axis=None)) == 6.0


def test_an_even_batch_is_computed_by_each_replica(pair: Strategy) -> None:
    (batch,) = batches(pair, DATA, 4)
    result = mean_of(pair)(batch)
    assert local(pair, result) == [5.5, 7.5]
    assert float(pair.reduce("MEAN", result, axis=None)) == 6.5


def test_the_size_of_an_uneven_batch_is_the_number_of_its_rows(pair: Strategy) -> None:
    (batch,) = batches(pair, DATA[:3], 4)
    result = pair.run(lambda x: jnp.asarray(x.size), args=(batch,))
    assert local(pair, result) == [3, 0]
    assert int(pair.reduce("SUM", result, axis=None)) == 3


def test_results_with_a_row_for_each_row_are_split_and_other_results_are_not(strategy: Strategy) -> None:
    """One row for all replicas: it comes back to the first replica, the rest get none."""
    number = strategy.num_replicas_in_sync
    (batch,) = batches(strategy, DATA[:1], 8)
    fixed, by_row = unisono.function(lambda x: strategy.run(lambda x: (jnp.zeros(3), x * x), args=(x,)))(batch)
    assert local(strategy, fixed) == [[0.0, 0.0, 0.0]] * number
    assert local(strategy, by_row) == [[25.0]] + [[]] * (number - 1)


def test_a_mask_over_an_uneven_batch(pair: Strategy) -> None:
    (batch,) = batches(pair, (np.int32([5, 6, 7]), np.int32([1, 0, 1])), 4)
    result = pair.run(lambda x, mask: jnp.sum(x * mask), args=batch)
    assert int(pair.reduce("SUM", result, axis=None)) == 12


def test_shapes_that_follow_the_number_of_rows(pair: Strategy) -> None:
    """Five rows dealt in threes, 3 and 2; here one replica has 5, and what it returns with 5 rows is split."""

    def step(x: Any) -> Any:
        number = x.shape[0]
        tiled = jnp.tile(x, (1, number, 1))
        flat = tiled.reshape(-1, 2)
        mapped = keras.ops.map(lambda row: row + 1, x)
        return {
            "flat": flat,
            "square": flat.reshape(number, -1, 2),
            "segments": keras.ops.segment_sum(x[:, 0, 0], jnp.zeros(number, "int32"), num_segments=number),
            "mapped": mapped,
        }

    data = np.arange(10, dtype=np.float32).reshape(5, 1, 2)
    distributed = pair.distribute_datasets_from_function(lambda context: Dataset.from_tensor_slices(data).batch(3))
    (batch,) = distributed
    results = pair.run(unisono.function(step), args=(batch,))
    shapes = {name: [value.shape for value in result.values] for name, result in results.items()}
    assert shapes == {
        "flat": [(25, 2), (25, 2)],
        "square": [(3, 5, 2), (2, 5, 2)],
        "segments": [(3,), (2,)],
        "mapped": [(3, 1, 2), (2, 1, 2)],
    }
    np.testing.assert_array_equal(pair.gather(results["mapped"], axis=0), data + 1)
    np.testing.assert_array_equal(pair.gather(results["segments"], axis=0), [data[:, 0, 0].sum(), 0, 0, 0, 0])


def test_each_size_of_a_batch_is_traced_once(several: Strategy) -> None:
    traces = []

    @unisono.function
    def step(batch: Any) -> Any:
        traces.append(1)
        return several.reduce("SUM", several.run(jnp.sum, args=(batch,)), axis=None)

    for _ in range(3):
        total = sum(float(step(batch)) for batch in batches(several, np.arange(10, dtype=np.float32), 4))
        assert total == 45.0
    assert len(traces) == 2


def test_rows_of_different_lengths_cannot_be_one_batch(pair: Strategy) -> None:
    """TensorFlow runs each replica with a shape of its own. One program has one shape."""
    values = per_replica(pair, [np.ones((2, 2), np.float32), np.ones((2, 3), np.float32)])
    with pytest.raises(ValueError, match=r"(?i)shape"):
        pair.run(jnp.mean, args=(values,))


def test_numbers_of_each_replica_cannot_go_with_an_uneven_batch(several: Strategy) -> None:
    number = several.num_replicas_in_sync
    (batch,) = batches(several, np.ones(number + 1, np.float32), 2 * number)
    factors = per_replica(several, [np.float32(i) for i in range(number)])
    with pytest.raises(ValueError, match="drop_remainder"):
        several.run(lambda x, factor: factor * jnp.sum(x), args=(batch, factors))


def test_the_replica_that_sees_an_uneven_batch_is_the_first(several: Strategy) -> None:
    number = several.num_replicas_in_sync
    (batch,) = batches(several, np.ones(number + 1, np.float32), 2 * number)
    result = several.run(lambda x: jnp.sum(x) + replica_id(), args=(batch,))
    assert float(several.reduce("SUM", result, axis=None)) == number + 1
