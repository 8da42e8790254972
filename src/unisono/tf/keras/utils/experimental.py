"""`tf.keras.utils.experimental`."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import explain_missing_names
from unisono.tf.keras._dataset_creator import DatasetCreator

__getattr__ = explain_missing_names("tf.keras.utils.experimental")
