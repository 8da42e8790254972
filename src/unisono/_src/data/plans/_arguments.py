"""Checks of users' arguments, made where the user wrote them."""

from __future__ import annotations

import inspect
import operator
import os
from typing import Any


def check_int(value: Any, call: str, name: str) -> int:
    """`value` as an int. `call` is what the user typed, for the error.

    NumPy's and JAX's integers are whole numbers; a float is not, even 64.0: it comes from a `/` that was
    meant as `//`, and the next one may have a fraction.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{call}: {name} must be a whole number, but it is {value!r} ({type(value).__name__}). "
            f"If it comes from a division, write a // b instead of a / b."
        ) from None


def check_batch_size(value: Any, call: str) -> int:
    """`value` as a number of at least 1."""
    size = check_int(value, call, "batch_size")
    if size < 1:
        raise ValueError(f"{call}: batch_size must be at least 1, but it is {size}. Write {call}(32), say.")
    return size


def check_function(function: Any, call: str) -> None:
    """Refuses what cannot be called."""
    if not callable(function):
        raise TypeError(
            f"{call}: expected a function of one element, got {function!r} "
            f"({type(function).__name__}). Write {call}(scale), not {call}(scale(x)), or a lambda."
        )


def function_name(function: Any) -> str:
    """What a function is called in plans and errors."""
    name: str = getattr(function, "__name__", type(function).__name__)
    return name.strip("<>")


def function_location(function: Any) -> str:
    """Where a function was written, as "train.py:41"; empty if that is not known, as for a function of C code."""
    while not hasattr(function, "__code__"):
        # A bound method, a partial, and what the dataset has made of the user's function.
        inner = next(
            (getattr(function, name) for name in ("__func__", "func", "function") if hasattr(function, name)), None
        )
        if inner is None:
            break
        function = inner
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    if code is None:
        return ""
    relative = os.path.relpath(code.co_filename)
    return f"{code.co_filename if relative.startswith('..') else relative}:{code.co_firstlineno}"
