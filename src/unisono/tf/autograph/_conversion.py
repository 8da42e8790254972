"""Functions converted without `tf.function`."""

from __future__ import annotations

from typing import Any

from unisono._src.tracing import control_flow


def to_graph(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> Any:
    """The function with control flow that may look at tensors; it is not compiled.

    What it calls is converted as well. The features of TensorFlow are accepted, all are always there.

    >>> larger = to_graph(lambda a, b: a if a > b else b)
    >>> larger(1, 2)
    2
    """
    return control_flow.convert(entity)


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source of what :func:`to_graph` returns."""
    return control_flow.to_code(entity)


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Accepted: nothing is logged, errors say all."""


def trace(*args: Any) -> None:
    """Prints its arguments, when a function is traced."""
    print(*args)
