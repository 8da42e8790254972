"""`tf.keras.optimizers`: Keras's. `legacy` and `experimental` hold the same ones."""

import keras as _keras

from unisono.tf.keras._like import like as _like
from unisono.tf.keras.optimizers import experimental, legacy, schedules

__getattr__ = _like(globals(), "tf.keras.optimizers", _keras.optimizers)
