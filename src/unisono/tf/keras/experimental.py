"""`tf.keras.experimental`: names that have moved."""

# ruff: noqa: F401  (names that the module re-exports)

from keras.optimizers.schedules import CosineDecay, CosineDecayRestarts

from unisono.tf._missing import explain_missing_names

__getattr__ = explain_missing_names("tf.keras.experimental")
