"""`tf.bitwise`: bitwise operations on integers."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.bitwise._bitwise_ops import bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift

__getattr__ = _explain_missing_names("tf.bitwise")
