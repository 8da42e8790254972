"""`tf.keras.preprocessing`: images, sequences and text on the host."""

import keras as _keras

from unisono.tf.keras._like import like as _like
from unisono.tf.keras.preprocessing import image as image
from unisono.tf.keras.preprocessing import sequence as sequence
from unisono.tf.keras.preprocessing import text as text
from unisono.tf.keras.utils import image_dataset_from_directory as image_dataset_from_directory
from unisono.tf.keras.utils import text_dataset_from_directory as text_dataset_from_directory
from unisono.tf.keras.utils import timeseries_dataset_from_array as timeseries_dataset_from_array

__getattr__ = _like(globals(), "tf.keras.preprocessing", _keras.preprocessing)
