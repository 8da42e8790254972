"""Eager debugging: run_eagerly, prints and asserts in layers, .numpy() inside call, check_numerics, breakpoints."""

import logging
import os
import sys

import numpy as np
import tensorflow as tf

tf.get_logger().setLevel(logging.ERROR)
os.environ.setdefault("TF_XLA_FLAGS", "--tf_xla_enable_xla_devices")
seen = []


class ActivityRegularizationLayer(tf.keras.layers.Layer):
    def call(self, inputs):
        self.add_loss(1e-2 * tf.reduce_sum(inputs**2))
        return inputs


class DebugDense(tf.keras.layers.Layer):
    def __init__(self, units=8, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="random_normal", trainable=True)
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", trainable=True)

    def call(self, inputs):
        if hasattr(inputs, "numpy") and tf.executing_eagerly():
            try:
                seen.append(float(np.abs(inputs.numpy()).max()))
            except Exception:
                pass
        tf.debugging.assert_rank(inputs, 2, message="a batch of vectors")
        return self.activation(tf.matmul(inputs, self.w) + self.b)


class MyModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.d1 = DebugDense(8, activation="relu")
        self.reg = ActivityRegularizationLayer()
        self.d2 = DebugDense(1)

    def call(self, x, training=False):
        x = self.reg(self.d1(x))
        return self.d2(x)

    def train_step(self, data):
        inputs, targets = data
        with tf.GradientTape() as tape2:
            with tf.GradientTape() as tape1:
                preds = self(inputs, training=True)
                loss = self.compiled_loss(targets, preds)
            trainable_vars = self.trainable_variables
            dl_dw = tape1.gradient(loss, trainable_vars)
            penalty = tf.add_n([tf.reduce_sum(tf.square(g)) for g in dl_dw]) * 1e-4
            total = loss + penalty + sum(self.losses)
        grads = tape2.gradient(total, trainable_vars)
        self.optimizer.apply_gradients(zip(grads, trainable_vars))
        self.compiled_metrics.update_state(targets, preds)
        return {m.name: m.result() for m in self.metrics}


rng = np.random.RandomState(0)
x = rng.randn(64, 4).astype("float32")
y = x.sum(1, keepdims=True)
model = MyModel()
model.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(0.05), metrics=["mae"], run_eagerly=True)
model.fit(x, y, epochs=1, batch_size=16, verbose=0)
assert model.run_eagerly and seen, "layers saw values"

with tf.distribute.MirroredStrategy().scope():
    compiled = MyModel()
    compiled.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(0.05), metrics=["mae"])
history = compiled.fit(x, y, epochs=5, batch_size=16, verbose=0).history
assert history["mae"][-1] < history["mae"][0]

calls = []


@tf.function
def f(a):
    calls.append("traced")
    tf.print("a is", a, output_stream=sys.stdout)
    return a * 2


f(tf.constant(1))
f(tf.constant(2))
assert len(calls) == 1
tf.config.run_functions_eagerly(True)
f(tf.constant(3))
f(tf.constant(4))
assert len(calls) == 3 and tf.config.functions_run_eagerly()
tf.config.run_functions_eagerly(False)

for bad in (
    lambda: tf.debugging.check_numerics(tf.constant([1.0, np.nan]), "gradients"),
    lambda: tf.debugging.assert_equal(tf.constant(1), tf.constant(2), message="not equal"),
    lambda: tf.debugging.assert_all_finite(tf.constant([np.inf]), "infinite"),
    lambda: tf.debugging.assert_shapes([(tf.zeros([2, 3]), ("N", 2))]),
    lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3])),
):
    try:
        bad()
    except (tf.errors.InvalidArgumentError, ValueError) as e:
        print(type(e).__name__, str(e).splitlines()[0][:80])
    else:
        raise AssertionError("no error")
try:
    model.fit(x, y[:10], verbose=0)
except ValueError as e:
    print("ValueError:", str(e).splitlines()[0])
try:
    tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])(tf.zeros([1, 5]))
except ValueError as e:
    assert "expected" in str(e) or "incompatible" in str(e)
tf.debugging.set_log_device_placement(False)
print(tf.constant([[1, 2], [3, 4]]))
print(repr(tf.Variable([1.0, 2.0])))
print(tf.config.list_physical_devices())
assert tf.executing_eagerly()
print("ok")
