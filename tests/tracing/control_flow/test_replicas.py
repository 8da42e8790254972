"""Choices and loops that each replica of `strategy.run` makes by itself."""
# ruff: noqa: SIM108

import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.tracing.control_flow import convert
from unisono.data import Dataset

from ._compare import compiled

pytestmark = pytest.mark.slow

NUMBERS = np.array([1, -2, 3, -4], "float32")


@pytest.fixture(scope="module")
def pair():
    return unisono.MirroredStrategy(["cpu:0", "cpu:1"])


def run(pair, step, batch=NUMBERS):
    """What the replicas return for their halves of a batch."""
    (per_replica,) = pair.experimental_distribute_dataset(Dataset.from_tensor_slices(batch).batch(len(batch)))

    @compiled
    def function(per_replica):
        return pair.run(step, args=(per_replica,))

    return [np.asarray(each) for each in pair.experimental_local_results(function(per_replica))]


def test_each_replica_chooses_for_itself(pair):
    def step(x):
        if x[0] > 2:
            y = x * 10
        else:
            y = -x
        return y

    assert [each.tolist() for each in run(pair, step)] == [[-1, 2], [30, -40]]


def test_each_replica_has_its_own_trip_count(pair):
    def step(x):
        total, n = keras.ops.sum(x * x), 0
        while total < 100:
            total = total * 2
            n += 1
        return jnp.stack([total, n * 1.0])

    assert [each.tolist() for each in run(pair, step)] == [[160, 5], [100, 2]]


def test_a_metric_may_be_updated_by_some(pair):
    with pair.scope():
        mean = keras.metrics.Mean()

    def step(x):
        if x[0] > 2:
            mean.update_state(x)
        for value in x:
            if value > 0:
                mean.update_state(value)
        return x

    run(pair, step)
    assert float(mean.result()) == pytest.approx((3 - 4 + 1 + 3) / 4)


def test_a_mirrored_variable_must_not_be_assigned_by_some(pair):
    with pair.scope():
        total = keras.Variable(0.0, aggregation="sum")

    def step(x):
        if x[0] > 2:
            total.assign_add(1.0)
        return x

    with pytest.raises(RuntimeError, match="assigned inside a `cond` by one replica"):
        run(pair, step)

    def iterates(x):
        while total < x[0]:
            total.assign_add(1.0)
        return x

    with pytest.raises(RuntimeError, match="assigned by one replica inside a loop"):
        run(pair, iterates)


def test_a_mirrored_variable_is_assigned_in_a_loop_with_the_same_trip_count_on_all_replicas(pair):
    with pair.scope():
        total = keras.Variable(0.0, aggregation="sum")
        mean = keras.Variable(0.0, aggregation="mean")

    def step(x):
        for value in x:
            total.assign_add(value)
            mean.assign(value)
        return total + x

    assert [each.tolist() for each in run(pair, step)] == [[-1, -4], [1, -6]]
    assert float(total) == -2.0
    assert float(mean) == -3.0


def test_a_loop_that_trains_on_all(pair):
    with pair.scope():
        weight = keras.Variable(1.0)
        optimizer = keras.optimizers.SGD(0.1)

    def step(x):
        for value in x:
            with unisono.GradientTape() as tape:
                loss = weight * value
                if loss > 2:
                    loss = loss * 2
            optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
        return weight + x * 0

    run(pair, step)
    assert float(weight) == pytest.approx(1.0 - 0.1 * (1 + 2 * 3) + 0.1 * (2 + 4))
    assert int(optimizer.iterations) == 2


def _train(optimizer, weight, skip=False):
    gradients = [weight * 0 + 1.0]
    optimizer.apply_gradients(zip(gradients, [weight], strict=True), skip_gradients_aggregation=skip)


COMMUNICATIONS = {
    "gradients": lambda optimizer, weight: _train(optimizer, weight),
    "all_reduce": lambda optimizer, weight: unisono.get_replica_context().all_reduce("SUM", weight.value),
    "all_gather": lambda optimizer, weight: unisono.get_replica_context().all_gather(weight.value[None], 0),
    "merge_call": lambda optimizer, weight: unisono.get_replica_context().merge_call(lambda given: weight.assign(2.0)),
}


@pytest.mark.parametrize("what", COMMUNICATIONS)
def test_replicas_cannot_communicate_where_each_decides_for_itself(pair, what):
    """They would wait for each other forever."""
    with pair.scope():
        weight = keras.Variable(1.0)
        optimizer = keras.optimizers.SGD(0.1)
        optimizer.build([weight])
    communicate = COMMUNICATIONS[what]

    def chooses(x):
        if x[0] > 2:
            communicate(optimizer, weight)
        return x

    def chooses_with_cond(x):
        keras.ops.cond(x[0] > 2, lambda: [communicate(optimizer, weight), None][1], lambda: None)
        return x

    def iterates(x):
        n = x[0]
        while n > 0:
            communicate(optimizer, weight)
            n = n - 1
        return x

    def breaks(x):
        for value in x:
            if value < 0:
                break
            communicate(optimizer, weight)
        return x

    for step in (chooses, chooses_with_cond, iterates, breaks):
        advice = r"all replicas have to take part(.|\n)*where\(condition(.|\n)*around `strategy"
        with pytest.raises(RuntimeError, match=advice):
            run(pair, step)
    assert float(weight) == 1.0


def test_gradients_that_were_summed_are_not_applied_by_some_replicas_only(pair):
    with pair.scope():
        weight = keras.Variable(1.0)
        optimizer = keras.optimizers.SGD(0.1)
        optimizer.build([weight])

    def step(x):
        if x[0] > 2:
            _train(optimizer, weight, skip=True)
        return x

    with pytest.raises(RuntimeError, match="assigned inside a `cond` by one replica"):
        run(pair, step)


@pytest.mark.parametrize("taken", [True, False])
def test_a_decision_around_run_trains_as_one_device(pair, taken):
    """What the error says to write."""

    def trained(strategy):
        with strategy.scope():
            weight = keras.Variable(1.0)
            optimizer = keras.optimizers.SGD(0.1, momentum=0.5)

        def step(x):
            with unisono.GradientTape() as tape:
                loss = keras.ops.sum(weight * x)
            chosen = keras.ops.where(x[0] > 2, tape.gradient(loss, weight), 0.0)
            optimizer.apply_gradients([(chosen, weight)])

        @compiled
        def function(per_replica, condition):
            if condition:
                strategy.run(step, args=(per_replica,))

        rows = np.array([3, 1, 4, 2], "float32")
        (per_replica,) = strategy.experimental_distribute_dataset(Dataset.from_tensor_slices(rows).batch(4))
        for _ in range(2):
            function(per_replica, jnp.asarray(taken))
        return float(weight)

    one = trained(unisono.OneDeviceStrategy("cpu:0"))
    assert trained(pair) == pytest.approx(one)
    assert (one == 1.0) != taken


def test_an_uneven_batch_decides_once_for_all_rows(pair):
    with pair.scope():
        total = keras.Variable(0.0, aggregation="sum")

    def step(x):
        if keras.ops.sum(x) > 0:
            total.assign_add(keras.ops.sum(x))
        return keras.ops.sum(x)

    run(pair, step, np.array([1, 2, 3], "float32"))
    assert float(total) == 6.0


def test_a_function_that_run_is_given_is_converted_with_the_one_around_it(pair):
    def step(x):
        return x * 2 if x[0] > 0 else x

    @unisono.function
    @convert
    def function(x):
        doubled = pair.run(step, args=(x,))
        return pair.reduce(unisono.ReduceOp.SUM, doubled, axis=None)

    assert float(function(jnp.ones(2))[0]) == 4.0
