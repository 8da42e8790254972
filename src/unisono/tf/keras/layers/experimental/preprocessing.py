"""`tf.keras.layers.experimental.preprocessing`: layers that have moved."""

# ruff: noqa: F401  (names that the module re-exports)

import keras

from unisono.tf.keras._keras_fallback import keras_fallback
from unisono.tf.keras.layers._hashed_crossing import HashedCrossing
from unisono.tf.keras.layers._hashing import Hashing
from unisono.tf.keras.layers._lookup import IntegerLookup, StringLookup
from unisono.tf.keras.layers._text_vectorization import TextVectorization

__getattr__ = keras_fallback(globals(), "tf.keras.layers.experimental.preprocessing", keras.layers)
