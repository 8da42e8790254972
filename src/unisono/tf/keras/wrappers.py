"""`tf.keras.wrappers`: Keras's."""

import keras

from unisono.tf.keras._like import like

__getattr__ = like(globals(), "tf.keras.wrappers", keras.wrappers)
