"""`tf.keras.utils.experimental`."""

from unisono.tf._missing import missing_in
from unisono.tf.keras._dataset_creator import DatasetCreator as DatasetCreator

__getattr__ = missing_in("tf.keras.utils.experimental")
