"""Functions of Python's own that mean something else for traced values."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, Final

import jax.numpy as jnp

from unisono._src.tracing.control_flow._ranges import Rows, TracedRange, to_turn_over
from unisono._src.tracing.control_flow._traced import array_of, is_traced


def _range(*args: Any) -> Any:
    if not any(map(is_traced, args)):
        return builtins.range(*args)
    start, limit, delta = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
    return TracedRange(start, limit, delta)


def _int(*args: Any, **kwargs: Any) -> Any:
    return _as_number(args, "int32") if args and is_traced(args[0]) else builtins.int(*args, **kwargs)


def _float(*args: Any) -> Any:
    return _as_number(args, "float32") if args and is_traced(args[0]) else builtins.float(*args)


def _as_number(args: tuple[Any, ...], dtype: str) -> Any:
    return array_of(args[0]).astype(dtype)


def _enumerate(iterable: Any, start: int = 0) -> Any:
    over = to_turn_over(iterable)
    if not isinstance(over, Rows):
        return builtins.enumerate(iterable, start)
    return Rows.of((jnp.arange(over.length) + start, over.value(over.arrays)))


def _zip(*iterables: Any, **kwargs: Any) -> Any:
    over = [to_turn_over(each) for each in iterables]
    if kwargs or not over or not all(isinstance(each, Rows) for each in over):
        return builtins.zip(*iterables, **kwargs)  # noqa: B905
    return Rows.of(tuple(each.value(each.arrays) for each in over if isinstance(each, Rows)))


BUILTINS: Final[dict[Any, Callable[..., Any]]] = {
    builtins.range: _range,
    builtins.int: _int,
    builtins.float: _float,
    builtins.enumerate: _enumerate,
    builtins.zip: _zip,
}
"""What is called in their place."""
