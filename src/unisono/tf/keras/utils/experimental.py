"""`tf.keras.utils.experimental`."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import missing_in
from unisono.tf.keras._dataset_creator import DatasetCreator

__getattr__ = missing_in("tf.keras.utils.experimental")
