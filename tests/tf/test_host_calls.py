"""Python inside compiled functions and of maps."""

import contextlib
from typing import Any

import jax
import numpy as np
import pytest

import unisono.tf as tf


def test_numpy_is_called_every_time_a_function_runs():
    seen = []

    def note(x):
        seen.append(float(x.sum()))
        return x.sum()

    @tf.function
    def total(x):
        return tf.numpy_function(note, [x], tf.TensorSpec([], tf.float32))

    assert [float(total(tf.constant([each, 1.0]))) for each in (1.0, 5.0)] == [2.0, 6.0]
    assert seen == [2.0, 6.0]


def test_a_result_without_a_spec_is_computed_on_the_host():
    spec = tf.TensorSpec([2], tf.float32)
    doubled = tf.function(lambda x: tf.py_function(lambda each: each.numpy() * 2, [x], spec))
    np.testing.assert_allclose(doubled(tf.constant([1.0, 2.0])), [2, 4])
    without = tf.function(lambda x: tf.numpy_function(lambda each: each * 2, [x], tf.float32))
    with pytest.warns(UserWarning, match=r"Tout=tf.TensorSpec\(shape, dtype\)"):
        np.testing.assert_allclose(without(tf.constant([1.0, 2.0])), [2, 4])
    wrong = tf.function(lambda x: tf.numpy_function(lambda each: each * 2, [x], tf.TensorSpec([3], tf.float32)))
    with pytest.raises(jax.errors.JaxRuntimeError, match="TensorSpec"):
        jax.block_until_ready(wrong(tf.constant([1.0, 2.0])))


def test_python_in_a_map_makes_it_run_on_the_host():
    def load(name):
        return np.float32(len(name.decode()))

    dataset = tf.data.Dataset.from_tensor_slices(["a", "bcd"]).map(lambda x: tf.numpy_function(load, [x], tf.float32))
    assert [float(x) for x in dataset] == [1.0, 3.0]
    counted = tf.data.Dataset.range(3).map(lambda x: tf.py_function(lambda n: n.numpy() + 1, [x], tf.int64))
    assert [int(x) for x in counted.batch(3).take(1).unbatch()] == [1, 2, 3]


def test_text_cannot_leave_a_compiled_function():
    text = tf.function(lambda x: tf.numpy_function(str, [x], tf.TensorSpec([], tf.string)))
    with pytest.raises(NotImplementedError, match="text"):
        text(tf.constant(1.0))


def test_a_wrong_number_of_results_is_an_error():
    with pytest.raises(ValueError, match=r"returned 1 results\. Expected 2"):
        tf.numpy_function(lambda x: x, [1.0], [tf.float32, tf.float32])


def test_no_gradient_passes_numpy():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * tf.numpy_function(lambda each: each * 3, [x], tf.float32)
    assert float(tape.gradient(y, x)) == 6.0


SCALAR = tf.TensorSpec([], tf.float32)


def test_a_function_with_a_gradient_through_python_runs_on_the_host() -> None:
    x = tf.Variable(3.0)

    @tf.function
    def derive(call: Any) -> Any:
        with tf.GradientTape() as tape:
            y = x * call(lambda each: each * each, [x], SCALAR)
        return tape.gradient(y, x)

    with pytest.warns(UserWarning, match=r"runs on the host, line by line: a gradient goes through tf.py_function"):
        assert float(derive(tf.py_function)) == 27.0
    assert float(derive(tf.numpy_function)) == 9.0


def test_a_gradient_that_nobody_uses_leaves_a_function_compiled() -> None:
    x, seen = tf.Variable(3.0), []

    @tf.function
    def derive() -> Any:  # running on the host would be a warning, and so an error
        with tf.GradientTape() as tape:
            y = x * x
            noted = tf.py_function(lambda each: seen.append(float(each)) or each, [y], SCALAR)
            y = y + tf.py_function(lambda each: each, [tf.stop_gradient(y)], SCALAR)
            number = tf.py_function(lambda each: np.int32(each), [y], tf.TensorSpec([], tf.int32))
        return tape.gradient(y, x), noted, number

    assert [float(each) for each in derive()] == [6.0, 9.0, 18.0]
    assert seen == [9.0]


@pytest.mark.parametrize("devices", [0, 2])
def test_a_gradient_through_python_is_an_error_in_fit(devices: int) -> None:
    names = [f"cpu:{index}" for index in range(devices)]
    with tf.distribute.MirroredStrategy(names).scope() if devices else contextlib.nullcontext():
        model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
        model.compile("sgd", lambda y, p: tf.py_function(lambda y, p: tf.reduce_mean((y - p) ** 2), [y, p], SCALAR))
    with pytest.raises(NotImplementedError, match=r"(?s)gradient goes through tf.py_function.*tf.stop_gradient"):
        model.fit(np.ones((4, 1), "float32"), np.zeros((4, 1), "float32"), verbose=0)


def test_python_functions_are_decorated() -> None:
    @tf.py_function(Tout=tf.float32)
    def add(x: Any, y: Any) -> Any:
        return x.numpy() + y.numpy()

    @tf.function
    @tf.py_function(Tout=tf.TensorSpec([], tf.float32))
    def double(x: Any) -> Any:
        return x.numpy() * 2

    @tf.numpy_function(Tout=[tf.int32, tf.float32])
    def describe(x: Any) -> Any:
        return np.int32(x.ndim), np.float32(x.max())

    assert float(add(1.0, 2.0)) == 3.0
    assert [float(each) for each in describe(np.ones(2))] == [1.0, 1.0]
    assert add.__name__ == "add"
    assert float(double(tf.constant(2.0))) == 4.0
    assert [float(x) for x in tf.data.Dataset.range(2).map(lambda x: add(x, 1))] == [1.0, 2.0]
