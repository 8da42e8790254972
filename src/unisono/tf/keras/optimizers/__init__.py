"""`tf.keras.optimizers`: Keras's. `legacy` and `experimental` have the same classes."""

import keras as _keras

from unisono.tf.keras._keras_fallback import keras_fallback as _keras_fallback
from unisono.tf.keras.optimizers import experimental, legacy, schedules

__getattr__ = _keras_fallback(globals(), "tf.keras.optimizers", _keras.optimizers)
