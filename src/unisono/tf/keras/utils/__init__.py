"""`tf.keras.utils`: Keras's, and Unisono's where Keras's would need TensorFlow."""

import keras as _keras

from unisono.tf.keras._keras_fallback import keras_fallback as _keras_fallback
from unisono.tf.keras.utils import experimental
from unisono.tf.keras.utils._folder_datasets import (
    audio_dataset_from_directory, image_dataset_from_directory, text_dataset_from_directory,
)
from unisono.tf.keras.utils._timeseries import timeseries_dataset_from_array

__getattr__ = _keras_fallback(globals(), "tf.keras.utils", _keras.utils)
