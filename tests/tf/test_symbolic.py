"""`tf` functions in functional Keras models."""

import keras
import numpy as np
import pytest

import unisono.tf as tf


def make_model(build):
    inputs = keras.Input((4,))
    return keras.Model(inputs, build(inputs))


BUILDS = {
    "mean": (lambda x: tf.reduce_mean(x, axis=1, keepdims=True), lambda x: x.mean(1, keepdims=True)),
    "concat": (lambda x: tf.concat([x, tf.square(x)], -1), lambda x: np.concatenate([x, x**2], -1)),
    "cast": (lambda x: tf.cast(x > 0, tf.float32), lambda x: (x > 0).astype("float32")),
    "relu": (lambda x: tf.nn.relu(x) + 1.0, lambda x: np.maximum(x, 0) + 1),
    "reshape": (lambda x: tf.reshape(x, [-1, 2, 2]), lambda x: x.reshape(-1, 2, 2)),
    "split": (lambda x: tf.split(x, 2, axis=1)[1], lambda x: x[:, 2:]),
    "matmul": (lambda x: tf.matmul(x, tf.ones([4, 2])), lambda x: x @ np.ones((4, 2))),
    "named": (lambda x: tf.multiply(x, 2.0, name="twice"), lambda x: x * 2),
    "where": (lambda x: tf.where(x > 0, x, tf.zeros_like(x)), lambda x: np.maximum(x, 0)),
}


@pytest.mark.parametrize("name", BUILDS)
def test_a_function_of_a_symbolic_tensor_is_part_of_the_model(name):
    build, expected = BUILDS[name]
    x = np.random.RandomState(0).standard_normal((3, 4)).astype("float32")
    model = make_model(build)
    assert model.output_shape == (None, *expected(x).shape[1:])
    np.testing.assert_allclose(model.predict(x, verbose=0), expected(x), rtol=1e-5)


def test_a_model_with_functions_in_it_is_saved_and_loaded(tmp_path):
    model = make_model(lambda x: tf.reduce_sum(tf.cast(tf.stack([x, x], axis=1), tf.float32), axis=[1]))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    x = np.ones((2, 4), "float32")
    np.testing.assert_allclose(loaded.predict(x, verbose=0), 2 * x)


def test_layers_use_the_shape_of_batches_of_any_size():
    class Flat(keras.layers.Layer):
        def call(self, x):
            size = tf.reduce_prod(tf.shape(x)[1:])
            batch = tf.shape(x)[0]
            mask = tf.ones([batch, size])
            return tf.concat([tf.reshape(x, [batch, size]) * mask, tf.zeros((batch, 1))], axis=1)

    inputs = keras.Input((2, 3))
    model = keras.Model(inputs, Flat()(inputs))
    assert model.output_shape == (None, 7)
    assert model.predict(np.ones((5, 2, 3)), verbose=0).sum() == 30


def test_a_name_is_accepted_everywhere():
    assert float(tf.add(1.0, 2.0, name="sum")) == 3.0
    assert float(tf.add(1.0, 2.0, "sum")) == 3.0
    assert tf.zeros([2], name="nothing").shape == (2,)
