"""`tf.keras.preprocessing`: images, sequences and text on the host."""

import keras as _keras

from unisono.tf.keras._keras_fallback import keras_fallback as _keras_fallback
from unisono.tf.keras.preprocessing import image, sequence, text
from unisono.tf.keras.utils import (
    image_dataset_from_directory, text_dataset_from_directory, timeseries_dataset_from_array,
)

__getattr__ = _keras_fallback(globals(), "tf.keras.preprocessing", _keras.preprocessing)
