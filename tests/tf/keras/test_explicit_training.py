"""An explicit `training` argument of a layer in a functional model, and its default."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unisono.tf as tf
from unisono import MirroredStrategy

ROWS = np.random.default_rng(0).normal(3.0, 1.0, (16, 4)).astype("float32")


def _zeros(values: Any) -> bool:
    return bool((np.asarray(values) == 0).any())


@pytest.mark.parametrize("replicas", [0, 2])
def test_a_base_called_with_training_false_keeps_its_statistics_in_fine_tuning(replicas: int) -> None:
    def made() -> tuple[Any, Any]:
        base = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.BatchNormalization()])
        inputs = tf.keras.Input((4,))
        bent = tf.keras.layers.Activation("tanh")(base(inputs, training=False))
        model = tf.keras.Model(inputs, tf.keras.layers.BatchNormalization()(bent))
        model.compile("sgd", "mse")
        return base.layers[0], model

    if replicas:
        with MirroredStrategy([f"cpu:{number}" for number in range(replicas)]).scope():
            norm, model = made()
    else:
        norm, model = made()
    model.fit(ROWS, ROWS, batch_size=8, verbose=0)
    np.testing.assert_array_equal(norm.moving_mean.numpy(), np.zeros(4))
    assert not np.allclose(norm.beta.numpy(), 0.0)
    assert not np.allclose(model.layers[-1].moving_mean.numpy(), 0.0)


def test_dropout_called_with_training_true_stays_active_also_after_loading(tmp_path: Path) -> None:
    inputs = tf.keras.Input((4,))
    model = tf.keras.Model(inputs, tf.keras.layers.Dropout(0.5)(inputs, training=True))
    model.save(tmp_path / "on.keras")
    for each in (model, tf.keras.models.load_model(tmp_path / "on.keras"), tf.keras.models.clone_model(model)):
        assert _zeros(each.predict(ROWS, verbose=0))
        assert _zeros(each(ROWS, training=False))


class Doubling(tf.keras.layers.Layer):
    """Doubles in training. Its default is False, which Keras records like an explicit argument."""

    def call(self, x: Any, training: bool = False) -> Any:
        return 2 * x if training else x


def test_a_layer_without_the_argument_follows_the_model() -> None:
    inputs = tf.keras.Input((4,))
    model = tf.keras.Model(inputs, Doubling()(inputs))
    np.testing.assert_allclose(model(ROWS, training=True), 2 * ROWS)
    np.testing.assert_allclose(model(ROWS), ROWS)


def test_a_model_that_is_built_in_training_predicts_without_dropout() -> None:
    class Outer(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.inner = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dropout(0.5)])

        def call(self, x: Any) -> Any:
            return self.inner(x)

    model = Outer()
    assert _zeros(model(ROWS, training=True))
    assert not _zeros(model(ROWS, training=False))
