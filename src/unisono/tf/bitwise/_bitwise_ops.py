"""Bitwise operations on integers."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from unisono.tf._op import op
from unisono.tf._operands import convert_operands
from unisono.tf._tensors import as_array


@op
def bitwise_and(x: Any, y: Any) -> Any:
    """`x & y`, element by element."""
    return jnp.bitwise_and(*convert_operands(x, y))


@op
def bitwise_or(x: Any, y: Any) -> Any:
    """`x | y`, element by element."""
    return jnp.bitwise_or(*convert_operands(x, y))


@op
def bitwise_xor(x: Any, y: Any) -> Any:
    """`x ^ y`, element by element."""
    return jnp.bitwise_xor(*convert_operands(x, y))


@op
def invert(x: Any) -> Any:
    """`~x`, element by element."""
    return jnp.invert(as_array(x))


@op
def left_shift(x: Any, y: Any) -> Any:
    """`x << y`, element by element."""
    return jnp.left_shift(*convert_operands(x, y))


@op
def right_shift(x: Any, y: Any) -> Any:
    """`x >> y`, element by element."""
    return jnp.right_shift(*convert_operands(x, y))
