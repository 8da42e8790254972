"""`tf.keras.mixed_precision`: Keras's, with the old names in `experimental`."""

import keras as _keras

from unisono.tf.keras._keras_fallback import keras_fallback as _keras_fallback
from unisono.tf.keras.mixed_precision import experimental

__getattr__ = _keras_fallback(globals(), "tf.keras.mixed_precision", _keras.mixed_precision)
