"""Control flow on tensors in functions called by `strategy.run`, inside a tf.function and outside."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

import unisono.tf as tf

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def strategy() -> tf.distribute.MirroredStrategy:
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


@pytest.fixture(scope="module")
def batch(strategy: tf.distribute.MirroredStrategy) -> Any:
    rows = tf.data.Dataset.from_tensor_slices(np.array([1.0, 1.0, 3.0, 4.0], "float32")).batch(4)
    return next(iter(strategy.experimental_distribute_dataset(rows)))


@pytest.fixture(params=["outside", "inside"])
def run(request: pytest.FixtureRequest, strategy: tf.distribute.MirroredStrategy) -> Run:
    if request.param == "outside":
        return lambda fn, args: strategy.run(fn, args=args)

    def inside(fn: Callable[..., Any], args: Any) -> Any:
        return tf.function(lambda *args: strategy.run(fn, args=args))(*args)

    return inside


def test_each_replica_branches_on_its_own_values(run: Run, batch: Any) -> None:
    def step(x: Any) -> Any:
        iterations = tf.constant(0)
        while tf.cast(iterations, tf.float32) < tf.reduce_max(x):
            iterations += 1
        if tf.reduce_sum(x) > 3.0:
            return x * 10.0, iterations
        return x - 1.0, iterations

    values, iterations = run(step, (batch,))
    assert [value.tolist() for value in values.values] == [[0.0, 0.0], [30.0, 40.0]]
    assert [int(value) for value in iterations.values] == [1, 4]


def test_a_merge_call_function_branches(run: Run, batch: Any) -> None:
    def merged(strategy: tf.distribute.Strategy, part: Any) -> Any:
        total = strategy.reduce("SUM", part, axis=None)
        if total > 5.0:
            return total
        return -total

    def step(x: Any) -> Any:
        return tf.distribute.get_replica_context().merge_call(merged, args=(tf.reduce_sum(x),))

    assert [float(value) for value in run(step, (batch,)).values] == [9.0, 9.0]
    assert [float(value) for value in run(lambda x: step(x / 2.0), (batch,)).values] == [-4.5, -4.5]


def test_methods_and_callable_objects_branch(run: Run, batch: Any) -> None:
    class Doubling:
        def __call__(self, x: Any) -> Any:
            return x * 2.0 if tf.reduce_sum(x) > 3.0 else x

        def method(self, x: Any) -> Any:
            return self(x)

    for function in (Doubling(), Doubling().method):
        assert [value.tolist() for value in run(function, (batch,)).values] == [[1.0, 1.0], [6.0, 8.0]]


def test_keras_methods_are_not_converted(strategy: tf.distribute.MirroredStrategy, batch: Any) -> None:
    with strategy.scope():
        mean = keras.metrics.Mean()
    strategy.run(mean.update_state, args=(batch,))
    assert float(mean.result()) == 2.25


def test_do_not_convert_is_respected(strategy: tf.distribute.MirroredStrategy, batch: Any) -> None:
    @tf.autograph.experimental.do_not_convert
    def step(x: Any) -> Any:
        return x if tf.reduce_sum(x) > 3.0 else -x

    with pytest.raises(Exception, match="bool"):
        strategy.run(step, args=(batch,))
