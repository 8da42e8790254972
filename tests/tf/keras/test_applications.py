"""`tf.keras.applications`: Keras's own models, by the names that scripts for TensorFlow use."""

import numpy as np
import pytest

import unisono.tf as tf


@pytest.mark.full
def test_xception_has_the_classes_that_were_asked_for_and_takes_colors_from_minus_one_to_one() -> None:
    model = tf.keras.applications.Xception(weights=None, input_shape=(71, 71, 3), classes=3)
    assert model.output_shape == (None, 3)
    colors = np.array([[[[0.0, 127.5, 255.0]]]], "float32")
    scaled = tf.keras.applications.xception.preprocess_input(colors.copy())
    np.testing.assert_allclose(scaled, [[[[-1.0, 0.0, 1.0]]]])
