"""`tf.bitwise`: bitwise operations on integers, element by element."""

import jax.numpy as _jnp

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._op import define_op as _define_op
from unisono.tf._operands import convert_operands as _convert_operands
from unisono.tf._tensors import as_array as _as_array

invert = _define_op("invert", lambda x: _jnp.invert(_as_array(x)), "`~x`.")
bitwise_and = _define_op("bitwise_and", lambda x, y: _jnp.bitwise_and(*_convert_operands(x, y)), "`x & y`.")
bitwise_or = _define_op("bitwise_or", lambda x, y: _jnp.bitwise_or(*_convert_operands(x, y)), "`x | y`.")
bitwise_xor = _define_op("bitwise_xor", lambda x, y: _jnp.bitwise_xor(*_convert_operands(x, y)), "`x ^ y`.")
left_shift = _define_op("left_shift", lambda x, y: _jnp.left_shift(*_convert_operands(x, y)), "`x << y`.")
right_shift = _define_op("right_shift", lambda x, y: _jnp.right_shift(*_convert_operands(x, y)), "`x >> y`.")

__getattr__ = _explain_missing_names("tf.bitwise")
