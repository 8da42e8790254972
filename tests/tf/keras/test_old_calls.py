"""Layers called with `training` and `mask` by position, as in Keras 2."""

from typing import Any

import numpy as np
import pytest

import unisono.tf as tf

X = np.ones((2, 3), "float32")


class RecordingLayer(tf.keras.layers.Layer):
    """Notes what it was called with."""

    supports_masking = True

    def call(self, x: Any, training: Any = None, mask: Any = None, scale: Any = 1.0) -> Any:
        self.received = training, mask, scale
        return x * scale


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((True,), (True, None, 1.0)),
        ((None,), (None, None, 1.0)),
        ((False, None, 2.0), (False, None, 2.0)),
        ((None, None, 3), (None, None, 3)),
    ],
)
def test_arguments_that_are_not_tensors_may_be_positional(args: Any, expected: Any) -> None:
    layer = RecordingLayer()
    layer(X, *args)
    assert layer.received == expected


def test_a_mask_behind_training_is_the_mask() -> None:
    layer = RecordingLayer()
    layer(X, True, tf.constant([True, False]))
    assert layer.received[0] is True
    assert np.asarray(layer.received[1]).tolist() == [True, False]


def test_keras_own_layers_and_models_take_training_by_position() -> None:
    assert np.any(tf.keras.layers.Dropout(0.5)(np.ones((20, 20)), True).numpy() == 0)
    np.testing.assert_array_equal(tf.keras.layers.Dropout(0.5)(X, False), X)
    inputs = tf.keras.Input((3,))
    model = tf.keras.Model(inputs, tf.keras.layers.BatchNormalization()(inputs))
    np.testing.assert_allclose(model(X, False), X, rtol=1e-2)
    np.testing.assert_allclose(model(X, True), 0 * X)
    model = tf.keras.Model(inputs, tf.keras.layers.BatchNormalization()(inputs, False))
    copy = tf.keras.Model.from_config(model.get_config())
    for each in (model, copy):
        np.testing.assert_allclose(each(X, True), X, rtol=1e-2)


def test_tensors_stay_where_they_are() -> None:
    class Both(tf.keras.layers.Layer):
        def call(self, x: Any, y: Any, training: Any = None) -> Any:
            return x - y if training else y - x

    assert float(Both()(X, 3 * X, True).numpy()[0, 0]) == -2.0
    assert float(Both()(X, 3 * X).numpy()[0, 0]) == 2.0


def test_call_may_have_training_and_mask_without_defaults() -> None:
    class Block(tf.keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.drop = tf.keras.layers.Dropout(0.5)

        def call(self, inputs: Any, training: Any) -> Any:
            self.seen = training
            return self.drop(inputs, training=training)

    class Masked(tf.keras.layers.Layer):
        def call(self, inputs: Any, mask: Any, *, training: Any) -> Any:
            return inputs if mask is None else inputs * 0

    block, x = Block(), np.ones((8, 4), "float32")
    inputs = tf.keras.layers.Input((4,))
    model = tf.keras.Model(inputs, Masked()(block(inputs)))
    model.compile("sgd", "mse")
    np.testing.assert_array_equal(model.predict(x, verbose=0), x)
    assert (np.asarray(model(x, training=True)) == 0).any()
    assert model.fit(x, x, verbose=0).history["loss"][0] > 0, "dropout is on"
    np.testing.assert_array_equal(block(x), x)
    assert block.seen is None
    block(x, True)
    assert block.seen is True


def test_a_model_may_have_training_without_a_default() -> None:
    class Own(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.drop = tf.keras.layers.Dropout(0.5)

        def call(self, x: Any, training: Any) -> Any:
            return self.drop(x, training=training)

    model, x = Own(), np.ones((8, 4), "float32")
    model.compile("sgd", "mse")
    assert model.fit(x, x, verbose=0).history["loss"][0] > 0
    assert model.evaluate(x, x, verbose=0) == 0.0
    np.testing.assert_array_equal(model(x), x)


def test_an_unknown_positional_argument_is_still_an_error() -> None:
    class Rest(tf.keras.layers.Layer):
        def call(self, x: Any, *rest: Any) -> Any:
            return x

    with pytest.raises(ValueError, match="Only input tensors may be passed as positional"):
        Rest()(X, True)


def test_layers_take_lists_of_numbers() -> None:
    assert tf.keras.layers.Dense(2)([[1.0, 2.0]]).shape == (1, 2)
    assert tf.keras.layers.Embedding(3, 2)([[0, 1, 2]]).shape == (1, 3, 2)
    assert tf.keras.Sequential([tf.keras.layers.Dense(1)])([[1, 2], [3, 4]]).shape == (2, 1)
    assert tf.keras.layers.Add()([np.ones(2), np.ones(2)]).numpy().tolist() == [2.0, 2.0]
