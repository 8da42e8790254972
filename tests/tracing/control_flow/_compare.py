"""The oracle: a function that is converted gives what Python gives, run line by line and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import unisono
from unisono._src.tracing.control_flow import convert


def compiled(function: Callable[..., Any]) -> Any:
    """What `tf.function` makes of it."""
    return unisono.function(convert(function))


def numbers(*values: float) -> list[Any]:
    """Arrays of one number each, to be passed one after the other."""
    return [jnp.asarray(value, "float32" if isinstance(value, float) else "int32") for value in values]


def assert_same(got: Any, expected: Any) -> None:
    """Equal numbers in equal structures. A Python number may have become an array."""
    assert jax.tree.structure(got) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        if isinstance(other, str):
            assert one == other
        else:
            assert np.shape(one) == np.shape(other)
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-6)


def assert_like_python(function: Callable[..., Any], *calls: Any) -> None:
    """For each of ``calls``, a tuple of arguments or one: Python's result, converted, and converted and compiled."""
    converted, program = convert(function), compiled(function)
    for call in calls:
        args = call if isinstance(call, tuple) else (call,)
        expected = function(*args)
        assert_same(converted(*args), expected)
        assert_same(program(*args), expected)
