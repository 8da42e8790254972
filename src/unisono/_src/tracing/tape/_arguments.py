"""Arguments of a tape's methods: arrays and variables, in nested lists, tuples and dicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras

NOT_AN_ARRAY = """{role} {value!r}, of type {kind!r}.
That is neither a JAX array nor a Keras variable, so no tape has recorded it. {advice}"""

NUMPY_ADVICE = (
    "Compute with jax.numpy or keras.ops; an array from NumPy becomes one of JAX's by jax.numpy.asarray(array)."
)
OTHER_ADVICE = "Pass arrays, variables, or lists, tuples and dicts of them."

OUTPUT_GRADIENTS = """output_gradients has {given} leaves and the target has {expected}. Give one for each, in the same
order; None means ones."""

OUTPUT_GRADIENT = """An output gradient has the shape {given} and its target the shape {expected}. They must be the
same, or the first must broadcast to the second."""


def is_variable(value: Any) -> bool:
    """Whether ``value`` is a Keras variable."""
    return isinstance(value, keras.Variable)


def flatten_arrays(structure: Any, role: str, error: type[Exception]) -> list[Any]:
    """The arrays and variables in ``structure``; raises ``error`` if there is something else in it."""
    leaves: list[Any] = keras.tree.flatten(structure)
    for leaf in leaves:
        if not isinstance(leaf, jax.Array) and not is_variable(leaf):
            kind = type(leaf)
            advice = NUMPY_ADVICE if kind.__module__ == "numpy" else OTHER_ADVICE
            raise error(NOT_AN_ARRAY.format(role=role, value=leaf, kind=kind.__name__, advice=advice))
    return leaves


def make_output_cotangents(targets: Sequence[Any], output_gradients: Any) -> list[Any]:
    """The cotangent of each target: its output gradient, in the target's shape, or ones."""
    given = (
        [None] * len(targets) if output_gradients is None else _flatten_output_gradients(output_gradients, len(targets))
    )
    return [_make_cotangent(target, gradient) for target, gradient in zip(targets, given, strict=True)]


def _flatten_output_gradients(output_gradients: Any, expected: int) -> list[Any]:
    leaves: list[Any] = keras.tree.flatten(output_gradients)
    if len(leaves) != expected:
        raise ValueError(OUTPUT_GRADIENTS.format(given=len(leaves), expected=expected))
    return leaves


def _make_cotangent(target: Any, gradient: Any) -> Any:
    if gradient is None:
        return jnp.ones(target.shape, target.dtype)
    gradient = jnp.asarray(gradient, target.dtype)
    try:
        return jnp.broadcast_to(gradient, target.shape)
    except ValueError:
        text = OUTPUT_GRADIENT.format(given=gradient.shape, expected=target.shape)
        raise ValueError(text) from None
