"""Replacements for built-in functions that cannot handle traced values: range, int, float, enumerate, zip."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, Final

import jax.numpy as jnp

from unisono._src.tracing.control_flow._ranges import TracedRange, TracedRows, as_traced_iterable
from unisono._src.tracing.control_flow._traced_values import as_array, is_traced


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
    return as_array(args[0]).astype(dtype)


def _enumerate(iterable: Any, start: int = 0) -> Any:
    rows = as_traced_iterable(iterable)
    if not isinstance(rows, TracedRows):
        return builtins.enumerate(iterable, start)
    return TracedRows.from_arrays((jnp.arange(rows.length) + start, rows.value(rows.arrays)))


def _zip(*iterables: Any, **kwargs: Any) -> Any:
    rows = [as_traced_iterable(each) for each in iterables]
    if kwargs or not rows or not all(isinstance(each, TracedRows) for each in rows):
        return builtins.zip(*iterables, **kwargs)  # noqa: B905
    return TracedRows.from_arrays(tuple(each.value(each.arrays) for each in rows if isinstance(each, TracedRows)))


BUILTINS: Final[dict[Any, Callable[..., Any]]] = {
    builtins.range: _range,
    builtins.int: _int,
    builtins.float: _float,
    builtins.enumerate: _enumerate,
    builtins.zip: _zip,
}
"""What is called instead of them."""
