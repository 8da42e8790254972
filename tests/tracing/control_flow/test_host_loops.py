"""Functions that read data run as Python loops on the host, where Python decides."""

import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.tracing.control_flow import TracedRange, convert
from unisono.data import Dataset

from ._compare import compiled


def test_a_loop_over_a_dataset_with_choices_in_it():
    def total(dataset):
        result, skipped = 0, 0
        for x in dataset:
            if x % 2 == 0:
                skipped += 1
                continue
            if x > 6:
                break
            result = result + x
        return result, skipped

    dataset = Dataset.range(10)
    expected = total(dataset)
    assert [int(each) for each in compiled(total)(dataset)] == [int(each) for each in expected] == [9, 4]


def test_functions_in_it_are_compiled_with_their_choices():
    traces = []

    @compiled
    def clipped(x):
        traces.append(1)
        if x > 3:
            return x * 0
        return x

    @compiled
    def total(dataset):
        result = 0
        for x in dataset:
            result += clipped(x)
        return result

    assert int(total(Dataset.range(6))) == 6
    assert len(traces) == 1


def test_next_inside_of_a_range_of_unknown_length_runs_as_a_python_loop_on_the_host():
    @compiled
    def total(iterator, n):
        result = 0
        for _ in range(n):
            result = result + next(iterator)
        return result

    iterator = iter(Dataset.range(10))
    assert int(total(iterator, jnp.int32(3))) == 3
    assert int(total(iterator, jnp.int32(2))) == 7


@pytest.fixture
def pair():
    return unisono.MirroredStrategy(["cpu:0", "cpu:1"])


def test_a_training_loop_over_a_distributed_dataset(pair):
    with pair.scope():
        weight = keras.Variable(1.0)
        optimizer = keras.optimizers.SGD(0.1)

    def step(x):
        with unisono.GradientTape() as tape:
            loss = keras.ops.sum(weight * x)
            if loss > 4:
                loss = loss * 0
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
        return loss

    @compiled
    def epoch(dataset):
        total, steps = 0.0, 0
        for batch in dataset:
            per_replica = pair.run(step, args=(batch,))
            loss = pair.reduce("SUM", per_replica, axis=None)
            if loss > 1:
                total += loss
            steps += 1
        return total, steps

    dataset = pair.experimental_distribute_dataset(Dataset.from_tensor_slices(np.arange(8, dtype="float32")).batch(4))
    total, steps = epoch(dataset)
    # First 0 + 1 and 2 + 3 = 5 > 4, which is not trained on; then all is over the limit.
    assert int(steps) == 2
    assert float(total) == 0.0
    assert float(weight) == pytest.approx(0.9)


def test_run_inside_of_a_loop_makes_it_a_python_loop_on_the_host(pair):
    with pair.scope():
        total = keras.Variable(0.0, aggregation="sum")

    def step(x):
        if x > 0:
            x = x * 2
        total.assign_add(x)

    @compiled
    def several(x, n):
        for i in range(n):
            if i == 1:
                continue
            pair.run(step, args=(x,))
        return total * 1

    assert float(several(jnp.float32(1), jnp.int32(3))) == 8.0


def test_a_range_of_unknown_length_outside_of_a_converted_function_is_an_error():
    @unisono.function
    def wrong(n):
        return list(TracedRange(0, n))

    with pytest.raises(TypeError, match=r"tf.range\(0, \?, 1\) is known only when the program runs"):
        wrong(jnp.int32(3))

    @unisono.function
    def as_array(n):
        return jnp.ones(3) + TracedRange(0, n)

    with pytest.raises(TypeError, match="pass the length as a Python number"):
        as_array(jnp.int32(3))


def test_a_function_of_a_dataset_may_decide():
    def clip(x):
        if x > 3:
            return x * 0
        return x

    (batch,) = Dataset.range(6).map(convert(clip)).batch(6)
    assert batch.tolist() == [0, 1, 2, 3, 0, 0]
