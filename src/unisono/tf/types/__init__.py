"""`tf.types`."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.types import experimental

__getattr__ = _explain_missing_names("tf.types")
