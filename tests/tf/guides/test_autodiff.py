"""guide/autodiff: Introduction to gradients and automatic differentiation."""

import numpy as np
import pytest

import unisono.tf as tf


def test_gradients_of_tensors_and_of_dicts() -> None:
    """gradient with respect to a variable, a list and a dict of variables; shapes are those of the sources"""
    w, b = tf.Variable(tf.random.normal((3, 2)), name="w"), tf.Variable(tf.zeros(2), name="b")
    x = [[1.0, 2.0, 3.0]]
    with tf.GradientTape(persistent=True) as tape:
        y = x @ w + b
        loss = tf.reduce_mean(y**2)
    dl_dw, dl_db = tape.gradient(loss, [w, b])
    assert dl_dw.shape == w.shape
    grad = tape.gradient(loss, {"w": w, "b": b})
    np.testing.assert_allclose(grad["b"], dl_db)
    x3 = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x3**2
    assert tape.gradient(y, x3).numpy() == 6.0


def test_gradients_of_a_model() -> None:
    """gradients of a layer's trainable_variables"""
    layer = tf.keras.layers.Dense(2, activation="relu")
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(layer(tf.constant([[1.0, 2.0, 3.0]])) ** 2)
    grad = tape.gradient(loss, layer.trainable_variables)
    assert [g.shape for g in grad] == [v.shape for v in layer.trainable_variables]


def test_what_the_tape_watches() -> None:
    """variables that are not trainable, tensors, watched_variables, watch, watch_accessed_variables=False"""
    x0, x1 = tf.Variable(3.0, name="x0"), tf.Variable(3.0, name="x1", trainable=False)
    x2, x3 = tf.Variable(2.0, name="x2") + 1.0, tf.constant(3.0, name="x3")
    with tf.GradientTape() as tape:
        y = (x0**2) + (x1**2) + (x2**2)
    assert tape.gradient(y, [x0, x1, x2, x3]) == [6.0, None, None, None]
    assert [var.name for var in tape.watched_variables()] == [x0.name]
    with tf.GradientTape() as tape:
        tape.watch(x3)
        y = x3**2
    assert tape.gradient(y, x3).numpy() == 6.0
    a, b = tf.Variable(0.0), tf.Variable(10.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(b)
        ys = tf.reduce_sum(tf.math.sin(a) + tf.nn.softplus(b))
    grad = tape.gradient(ys, {"x0": a, "x1": b})
    assert grad["x0"] is None
    np.testing.assert_allclose(grad["x1"], 1 / (1 + np.exp(-10.0)), rtol=1e-5)


def test_intermediate_results_and_persistent_tapes() -> None:
    """gradient with respect to an intermediate result; a persistent tape gives several, and is deleted"""
    x = tf.constant([1, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    np.testing.assert_allclose(tape.gradient(z, x), [4.0, 108.0])
    np.testing.assert_allclose(tape.gradient(y, x), [2.0, 6.0])
    np.testing.assert_allclose(tape.gradient(z, y), [2.0, 18.0])
    del tape
    with tf.GradientTape() as once:
        once.watch(x)
        y = x * x
    once.gradient(y, x)
    with pytest.raises(RuntimeError):
        once.gradient(y, x)


def test_several_targets_and_targets_that_are_not_scalar() -> None:
    """the gradient of several targets is the sum; so is that of a vector"""
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y0, y1 = x**2, 1 / x
    np.testing.assert_allclose(tape.gradient({"y0": y0, "y1": y1}, x), 3.75)
    with tf.GradientTape() as tape:
        y = x * [3.0, 4.0]
    np.testing.assert_allclose(tape.gradient(y, x), 7.0)
    points = tf.linspace(-10.0, 10.0, 21)
    with tf.GradientTape() as tape:
        tape.watch(points)
        y = tf.nn.sigmoid(points)
    s = 1 / (1 + np.exp(-np.linspace(-10, 10, 21)))
    np.testing.assert_allclose(tape.gradient(y, points), s * (1 - s), atol=1e-6)


def test_control_flow() -> None:
    """only the branch that ran has a gradient; the predicate has none"""
    x, v0, v1 = tf.constant(1.0), tf.Variable(2.0), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        result = v0 if x > 0.0 else v1**2
        result = result * 1.0
    assert tape.gradient(result, [v0, v1, x]) == [1.0, None, None]


def test_gradients_that_are_none() -> None:
    """a variable replaced by a tensor, NumPy in between, integers, stateful reads; unconnected_gradients ZERO"""
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(np.mean(x.numpy() ** 2, axis=0))
    assert tape.gradient(y, x) is None
    x = tf.constant(10)
    with tf.GradientTape() as tape:
        with pytest.warns(UserWarning, match="int32"):
            tape.watch(x)
        y = x * x
    assert tape.gradient(y, x) is None
    x0, x1 = tf.Variable(3.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        x1.assign_add(x0)
        y = x1**2
    assert tape.gradient(y, x0) is None
    x, y = tf.Variable([2.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = y**2
    np.testing.assert_array_equal(tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO), [0.0, 0.0])
