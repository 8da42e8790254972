"""`tf.bitwise`: operations on the bits of whole numbers."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.bitwise._bits import bitwise_and as bitwise_and
from unisono.tf.bitwise._bits import bitwise_or as bitwise_or
from unisono.tf.bitwise._bits import bitwise_xor as bitwise_xor
from unisono.tf.bitwise._bits import invert as invert
from unisono.tf.bitwise._bits import left_shift as left_shift
from unisono.tf.bitwise._bits import right_shift as right_shift

__getattr__ = _missing_in("tf.bitwise")
