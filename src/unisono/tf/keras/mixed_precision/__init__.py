"""`tf.keras.mixed_precision`: Keras's, with the old spellings in `experimental`."""

import keras as _keras

from unisono.tf.keras._like import like as _like
from unisono.tf.keras.mixed_precision import experimental

__getattr__ = _like(globals(), "tf.keras.mixed_precision", _keras.mixed_precision)
