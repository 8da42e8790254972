"""`tf.keras.optimizers.schedules`: Keras's."""

import keras

from unisono.tf.keras._keras_fallback import keras_fallback

__getattr__ = keras_fallback(globals(), "tf.keras.optimizers.schedules", keras.optimizers.schedules)
