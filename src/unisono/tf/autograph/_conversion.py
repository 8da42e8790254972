"""`to_graph` and `to_code`: Python control flow converted without `tf.function`; AutoGraph's logging functions."""

from __future__ import annotations

from typing import Any

from unisono._src.tracing import control_flow


def to_graph(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> Any:
    """Converts a function so that its `if`, `for` and `while` accept tensors. The result is not compiled.

    Functions that it calls are always converted, too. ``experimental_optional_features`` is accepted without effect:
    every feature is always on.

    >>> larger = to_graph(lambda a, b: a if a > b else b)
    >>> larger(1, 2)
    2
    """
    return control_flow.convert(entity)


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """Returns the source code of the function that :func:`to_graph` returns."""
    return control_flow.to_code(entity)


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Accepted without effect: conversion logs nothing and reports problems as errors."""


def trace(*args: Any) -> None:
    """Prints its arguments when the function is traced."""
    print(*args)
