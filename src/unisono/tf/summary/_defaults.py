"""What summaries go to, at which step, and whether they are recorded, where nobody says so.

For the whole process and not for one thread: compiled functions write from threads of JAX's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unisono._src import jax_hooks


@dataclass(frozen=True)
class Default:
    """A writer in force.

    Attributes:
        writer: it.
        in_trace: whether it was put in force inside of a function that was being compiled.
    """

    writer: Any
    in_trace: bool


_default: Default | None = None
_step: Any = None
_condition: Any = True


@contextlib.contextmanager
def writing_to(writer: Any, step: Any) -> Iterator[None]:
    """Inside, ``writer`` is the default, and so is ``step`` if it is given."""
    global _default, _step
    before = _default, _step
    write_to(writer, step)
    try:
        yield
    finally:
        _default, _step = before


def write_to(writer: Any, step: Any) -> None:
    """From now on."""
    global _default, _step
    _default = Default(writer, in_trace=not jax_hooks.is_evaluating())
    if step is not None:
        _step = step


def current() -> Default | None:
    """The writer in force."""
    return _default


def current_writer() -> Any:
    """The writer in force, or None."""
    return None if _default is None else _default.writer


@contextlib.contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Inside, summaries are recorded only if ``condition`` holds: a bool, a tensor, or a function that returns one."""
    global _condition
    before, _condition = _condition, condition
    try:
        yield
    finally:
        _condition = before


def condition() -> Any:
    """What was given to :func:`record_if`, called if it is a function."""
    return _condition() if callable(_condition) else _condition


def should_record_summaries() -> Any:
    """Whether a summary would be recorded here: there is a writer, and `record_if` says yes."""
    return condition() if _default is not None else False


def get_step() -> Any:
    """The step that summaries have if they say nothing else; None if there is none."""
    return _step


def set_step(step: Any) -> None:
    """Sets the step that summaries have if they say nothing else: a number, or a `tf.Variable`.

    A compiled function keeps a number as it was when the function was traced, and reads a variable every time.
    """
    global _step
    _step = step
