"""`tf.keras.experimental`: what has a place of its own since."""

# ruff: noqa: F401  (names that the module re-exports)

from keras.optimizers.schedules import CosineDecay, CosineDecayRestarts

from unisono.tf._missing import missing_in

__getattr__ = missing_in("tf.keras.experimental")
