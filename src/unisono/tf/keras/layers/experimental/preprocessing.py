"""`tf.keras.layers.experimental.preprocessing`: layers that have a place of their own since."""

import keras

from unisono.tf.keras._like import like
from unisono.tf.keras.layers._hashing import Hashing as Hashing
from unisono.tf.keras.layers._lookup import IntegerLookup as IntegerLookup
from unisono.tf.keras.layers._lookup import StringLookup as StringLookup
from unisono.tf.keras.layers._text_vectorization import TextVectorization as TextVectorization

__getattr__ = like(globals(), "tf.keras.layers.experimental.preprocessing", keras.layers)
