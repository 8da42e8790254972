"""What the gradient is where nothing leads from the source to the target."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import keras

from unisono._src import keras_hooks


class UnconnectedGradients(enum.Enum):
    """What a tape answers for a source on which the target does not depend: nothing, or zeros of the source's shape.

    Wherever one of these is expected, its value, "none" or "zero", will do.

    >>> import jax.numpy as jnp
    >>> import unisono
    >>> x, other = jnp.array(3.0), jnp.array([1.0, 2.0])
    >>> with unisono.GradientTape() as tape:
    ...     tape.watch([x, other])
    ...     y = x * x
    >>> print(tape.gradient(y, other, unconnected_gradients=unisono.UnconnectedGradients.ZERO))
    [0. 0.]
    """

    NONE = "none"
    ZERO = "zero"

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise ValueError(
            f"unconnected_gradients={value!r} is not known. "
            f"Pass 'none' (the gradient is None) or 'zero' (it is an array of zeros)."
        )


def pack_gradients(
    found: Sequence[Any], sources: Any, unconnected: UnconnectedGradients, target_shape: tuple[int, ...] = ()
) -> Any:
    """The gradients in the structure of ``sources``; for one that was not ``found``, None or zeros."""
    if unconnected is UnconnectedGradients.ZERO:
        leaves = keras.tree.flatten(sources)
        found = [
            _zeros(source, target_shape) if one is None else one for one, source in zip(found, leaves, strict=True)
        ]
    return keras.tree.pack_sequence_as(sources, list(found))


def _zeros(source: Any, target_shape: tuple[int, ...]) -> Any:
    value = keras_hooks.raw_value(source) if isinstance(source, keras.Variable) else source
    return jnp.zeros((*target_shape, *value.shape), value.dtype)
