"""The default writer, step and condition of summaries.

They belong to the process, not to a thread: compiled functions write from JAX's threads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unisono._src import jax_hooks


@dataclass(frozen=True)
class DefaultWriter:
    """The default writer.

    Attributes:
        writer: the writer.
        in_trace: whether it became the default while a function was traced.
    """

    writer: Any
    in_trace: bool


_default: DefaultWriter | None = None
_step: Any = None
_condition: Any = True


@contextlib.contextmanager
def use_writer(writer: Any, step: Any) -> Iterator[None]:
    """A context in which ``writer`` is the default, and ``step`` if it is given."""
    global _default, _step
    before = _default, _step
    set_writer(writer, step)
    try:
        yield
    finally:
        _default, _step = before


def set_writer(writer: Any, step: Any) -> None:
    """Makes ``writer`` the default from now on, and ``step`` if it is given."""
    global _default, _step
    _default = DefaultWriter(writer, in_trace=not jax_hooks.is_evaluating())
    if step is not None:
        _step = step


def current_default() -> DefaultWriter | None:
    """The default writer, and whether it was set in a trace; None if there is none."""
    return _default


def current_writer() -> Any:
    """The default writer, or None."""
    return None if _default is None else _default.writer


@contextlib.contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """A context in which summaries are recorded only if ``condition`` is true: a bool, a tensor, or a function."""
    global _condition
    before, _condition = _condition, condition
    try:
        yield
    finally:
        _condition = before


def current_condition() -> Any:
    """The condition of :func:`record_if`; a function is called."""
    return _condition() if callable(_condition) else _condition


def should_record_summaries() -> Any:
    """Whether a summary would be recorded here: there is a writer, and the condition of `record_if` is true."""
    return current_condition() if _default is not None else False


def get_step() -> Any:
    """The default step of summaries, or None."""
    return _step


def set_step(step: Any) -> None:
    """Sets the default step of summaries: a number, or a `tf.Variable`.

    A compiled function keeps the number that it was traced with, and reads a variable in every call.
    """
    global _step
    _step = step
