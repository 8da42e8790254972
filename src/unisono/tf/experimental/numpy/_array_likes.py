"""Functions of `jax.numpy` that also take lists, text-free host tensors and variables where they expect arrays."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

import keras

from unisono.tf._tensors import as_array

# Parameters of functions of `jax.numpy` that are arrays, and those that are sequences of arrays.
_ARRAYS: Final = frozenset(
    [
        "A",
        "a",
        "a1",
        "a2",
        "arr",
        "array",
        "ary",
        "ar",
        "ar1",
        "ar2",
        "args",
        "arys",
        "aweights",
        "b",
        "condition",
        "element",
        "fp",
        "fweights",
        "indices",
        "m",
        "operands",
        "p",
        "prepend",
        "prototype",
        "q",
        "v",
        "values",
        "val",
        "weights",
        "x",
        "x1",
        "x2",
        "xi",
        "xp",
        "y",
        "z",
    ]
)
_SEQUENCES: Final = frozenset({"arrays", "choicelist", "condlist", "tup"})


@functools.cache
def accept_array_likes(function: Any) -> Any:
    """The function with lists and variables converted to arrays; anything that is not a function as it is.

    >>> import jax.numpy as jnp
    >>> int(accept_array_likes(jnp.sum)([1, 2, 3]))
    6
    """
    if not callable(function) or isinstance(function, type):
        return function
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return function
    variadic = {each.name for each in signature.parameters.values() if each.kind is each.VAR_POSITIONAL}

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)  # which explains what is wrong
        for name, value in bound.arguments.items():
            if name in variadic:
                bound.arguments[name] = tuple(map(_to_array, value))
            elif name in _ARRAYS:
                bound.arguments[name] = _to_array(value)
            elif name in _SEQUENCES and isinstance(value, list | tuple):
                bound.arguments[name] = [_to_array(each) for each in value]
        return function(*bound.args, **bound.kwargs)

    wrapped: Callable[..., Any] = call
    return wrapped


def _to_array(value: Any) -> Any:
    return as_array(value) if isinstance(value, list | tuple | keras.Variable) else value
