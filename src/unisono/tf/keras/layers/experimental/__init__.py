"""`tf.keras.layers.experimental`: what has a place of its own since."""

import keras as _keras

from unisono.tf.keras._like import like as _like
from unisono.tf.keras.layers._sync_batch_norm import SyncBatchNormalization
from unisono.tf.keras.layers.experimental import preprocessing

__getattr__ = _like(globals(), "tf.keras.layers.experimental", _keras.layers)
