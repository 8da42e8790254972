"""`tf.keras.layers`: Keras's, and layers for text that do not need TensorFlow."""

import keras as _keras

from unisono.tf.keras._keras_fallback import keras_fallback as _keras_fallback
from unisono.tf.keras.layers import experimental
from unisono.tf.keras.layers._hashed_crossing import HashedCrossing
from unisono.tf.keras.layers._hashing import Hashing
from unisono.tf.keras.layers._lookup import IntegerLookup, StringLookup
from unisono.tf.keras.layers._sync_batch_norm import SyncBatchNormalization
from unisono.tf.keras.layers._text_vectorization import TextVectorization

__getattr__ = _keras_fallback(globals(), "tf.keras.layers", _keras.layers)
