"""`tf.keras.experimental`: what has a place of its own since."""

from keras.optimizers.schedules import CosineDecay as CosineDecay
from keras.optimizers.schedules import CosineDecayRestarts as CosineDecayRestarts

from unisono.tf._missing import missing_in

__getattr__ = missing_in("tf.keras.experimental")
