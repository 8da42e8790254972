"""guide/mixed_precision: Mixed precision."""

from collections.abc import Iterator

import numpy as np
import pytest

import unisono.tf as tf


@pytest.fixture
def mixed() -> Iterator[None]:
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    yield
    tf.keras.mixed_precision.set_global_policy("float32")


@pytest.mark.usefixtures("mixed")
def test_policies_layers_and_outputs() -> None:
    """Policy, compute and variable dtypes, layers' dtype_policy, a softmax in float32"""
    policy = tf.keras.mixed_precision.global_policy()
    assert (policy.compute_dtype, policy.variable_dtype) == ("float16", "float32")
    assert tf.keras.mixed_precision.Policy("mixed_bfloat16").compute_dtype == "bfloat16"
    inputs = tf.keras.Input(shape=(4,))
    dense = tf.keras.layers.Dense(3)
    x = dense(inputs)
    assert dense.dtype_policy.name == "mixed_float16"
    assert tf.as_dtype(x.dtype) == tf.float16
    assert tf.as_dtype(dense.kernel.dtype) == tf.float32
    outputs = tf.keras.layers.Activation("softmax", dtype="float32")(x)
    model = tf.keras.Model(inputs, outputs)
    assert tf.as_dtype(model(tf.ones([1, 4])).dtype) == tf.float32


@pytest.mark.full
@pytest.mark.usefixtures("mixed")
def test_loss_scaling_in_a_loop() -> None:
    """LossScaleOptimizer, get_scaled_loss, get_unscaled_gradients; fit wraps the optimizer by itself"""
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(2, input_shape=(4,)), tf.keras.layers.Activation("linear", dtype="float32")]
    )
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1))
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    x, y = tf.ones([4, 4]), tf.constant([0, 1, 0, 1])
    before = model.get_weights()[0].copy()
    with tf.GradientTape() as tape:
        loss = loss_object(y, model(x, training=True))
        scaled_loss = optimizer.get_scaled_loss(loss)
    assert float(scaled_loss) > float(loss)
    gradients = optimizer.get_unscaled_gradients(tape.gradient(scaled_loss, model.trainable_variables))
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    assert np.abs(model.get_weights()[0] - before).max() < 1.0
    model.compile("sgd", loss_object)
    assert type(model.optimizer).__name__ == "LossScaleOptimizer"


def test_overflow_and_underflow() -> None:
    """float16 overflows above 65504 and underflows; a loss scale avoids it"""
    x = tf.constant(256, dtype="float16")
    assert np.isinf((x**2).numpy())
    assert (tf.constant(1e-5, dtype="float16") ** 2).numpy() == 0.0
