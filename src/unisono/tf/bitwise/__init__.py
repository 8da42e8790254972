"""`tf.bitwise`: operations on the bits of whole numbers."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.bitwise._bitwise_ops import bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift

__getattr__ = _missing_in("tf.bitwise")
