"""The stack of scopes of each thread, and the strategy set for the whole process.

A strategy is known here only by what lower layers ask of it: its placement.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Protocol

from unisono.runtime import Placement


class Placed(Protocol):
    """Anything that says where values live; in practice a strategy."""

    @property
    def placement(self) -> Placement: ...


class _Stack(threading.local):
    def __init__(self) -> None:
        self.entries: list[Placed] = []


_stack = _Stack()
_global: Placed | None = None


def current() -> Placed | None:
    """The innermost strategy of this thread, else the one set for the process, else None."""
    return _stack.entries[-1] if _stack.entries else _global


@contextlib.contextmanager
def entered(strategy: Placed) -> Iterator[None]:
    """Makes ``strategy`` current in this thread. Entering another one inside is an error."""
    inside = current()
    if inside is not None and inside is not strategy:
        raise RuntimeError(
            f"Cannot enter the scope of {strategy!r} inside the scope of {inside!r}. "
            "A model belongs to one strategy: leave the first scope before you enter the second."
        )
    _stack.entries.append(strategy)
    try:
        yield
    finally:
        if not _stack.entries or _stack.entries[-1] is not strategy:
            raise RuntimeError(f"The scope of {strategy!r} was left out of order. Use `with strategy.scope():`.")
        _stack.entries.pop()


def set_global(strategy: Placed | None) -> None:
    """Makes ``strategy`` current everywhere outside of scopes; None undoes it."""
    global _global
    if _stack.entries:
        raise RuntimeError(
            f"experimental_set_strategy must not be called inside a scope; this is the scope of {_stack.entries[-1]!r}."
        )
    _global = strategy
