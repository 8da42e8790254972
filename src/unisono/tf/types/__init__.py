"""`tf.types`."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.types import experimental

__getattr__ = _missing_in("tf.types")
