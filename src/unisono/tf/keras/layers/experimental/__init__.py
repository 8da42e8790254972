"""`tf.keras.layers.experimental`: layers that have moved."""

import keras as _keras

from unisono.tf.keras._keras_fallback import keras_fallback as _keras_fallback
from unisono.tf.keras.layers._sync_batch_norm import SyncBatchNormalization
from unisono.tf.keras.layers.experimental import preprocessing

__getattr__ = _keras_fallback(globals(), "tf.keras.layers.experimental", _keras.layers)
