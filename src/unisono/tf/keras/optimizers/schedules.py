"""`tf.keras.optimizers.schedules`: Keras's."""

import keras

from unisono.tf.keras._like import like

__getattr__ = like(globals(), "tf.keras.optimizers.schedules", keras.optimizers.schedules)
