"""guide/advanced_autodiff: Advanced automatic differentiation."""

from pathlib import Path

import numpy as np

import unisono.tf as tf


def test_recording_is_controlled() -> None:
    """stop_recording, reset, stop_gradient"""
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as t:
        x_sq = x * x
        with t.stop_recording():
            y_sq = y * y
        z = x_sq + y_sq
    grad = t.gradient(z, {"x": x, "y": y})
    assert grad["x"] == 4.0
    assert grad["y"] is None
    with tf.GradientTape() as t:
        y_sq = y * y
        t.reset()
        z = x * x + y_sq
    assert t.gradient(z, {"x": x, "y": y})["y"] is None
    with tf.GradientTape() as t:
        z = x**2 + tf.stop_gradient(y**2)
    assert t.gradient(z, {"x": x, "y": y})["y"] is None


def test_custom_gradients(tmp_path: Path) -> None:
    """custom_gradient, alone and in a SavedModel with experimental_custom_gradients"""

    @tf.custom_gradient
    def clip_gradients(y: tf.Tensor) -> tuple:
        def backward(dy: tf.Tensor) -> tf.Tensor:
            return tf.clip_by_norm(dy, 0.5)

        return y, backward

    v = tf.Variable(2.0)
    with tf.GradientTape() as t:
        output = clip_gradients(v * v)
    assert t.gradient(output, v) == 2.0

    class MyModule(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec(None)])
        def call_custom_grad(self, x: tf.Tensor) -> tf.Tensor:
            return clip_gradients(x)

    model = MyModule()
    model.call_custom_grad(tf.constant(1.0))  # which says what the rank is
    tf.saved_model.save(
        model, str(tmp_path / "m"), options=tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    )
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    with tf.GradientTape() as t:
        output = loaded.call_custom_grad(v * v)
    assert t.gradient(output, v) == 2.0


def test_several_tapes_and_higher_orders() -> None:
    """two tapes at once, a tape in a tape, the gradient of a gradient's norm"""
    x0, x1 = tf.constant(0.0), tf.constant(0.0)
    with tf.GradientTape() as tape0, tf.GradientTape() as tape1:
        tape0.watch(x0)
        tape1.watch(x1)
        ys = tf.reduce_sum(tf.math.sin(x0) + tf.nn.sigmoid(x1))
    assert tape0.gradient(ys, x0).numpy() == 1.0
    assert tape1.gradient(ys, x1).numpy() == 0.25
    x = tf.Variable(1.0)
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            y = x * x * x
        dy_dx = t1.gradient(y, x)
    assert dy_dx == 3.0
    assert t2.gradient(dy_dx, x) == 6.0
    layer = tf.keras.layers.Dense(2, activation="tanh")
    inputs = tf.random.normal([3, 4])
    with tf.GradientTape() as t2:
        with tf.GradientTape(watch_accessed_variables=False) as t1:
            t1.watch(inputs)
            y = layer(inputs)
            out = tf.reduce_sum(y**2)
        g1 = t1.gradient(out, inputs)
        g1_mag = tf.norm(g1)
    dg1_mag = t2.gradient(g1_mag, layer.trainable_variables)
    assert [var.shape for var in dg1_mag] == [(4, 2), (2,)]


def test_jacobians() -> None:
    """jacobian of scalar and tensor sources, batch_jacobian, a Hessian for Newton's method"""
    x, delta = tf.linspace(-2.0, 2.0, 5), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = tf.nn.sigmoid(x + delta)
    s = 1 / (1 + np.exp(-np.linspace(-2, 2, 5)))
    np.testing.assert_allclose(tape.jacobian(y, delta), s * (1 - s), rtol=1e-5)
    rows = tf.constant(np.random.default_rng(0).normal(size=(3, 2)).astype("float32"))
    layer = tf.keras.layers.Dense(4, activation=tf.nn.relu)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(rows)
        y = layer(rows)
    full = tape.jacobian(y, rows)
    assert full.shape == (3, 4, 3, 2)
    batch = tape.batch_jacobian(y, rows)
    np.testing.assert_allclose(batch, np.einsum("bibj->bij", full), rtol=1e-5)
    assert tape.jacobian(y, layer.kernel).shape == (3, 4, *layer.kernel.shape)
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            loss = tf.reduce_sum(v**3)
        g = t1.gradient(loss, v)
    h = t2.jacobian(g, v)
    np.testing.assert_allclose(h, [[6.0, 0.0], [0.0, 12.0]])
    v.assign_sub(tf.reshape(tf.linalg.solve(h + tf.eye(2) * 1e-3, g[:, tf.newaxis]), [-1]))
    np.testing.assert_allclose(v.numpy(), [0.5, 1.0], rtol=1e-2)
