"""Who runs here: a strategy for all replicas together, or one replica of it. A stack for each thread.

A strategy is known here only by what lower layers ask of it: its placement.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from unisono._src.devices import Placement
from unisono._src.replicas.context._replica import Replica


class HasPlacement(Protocol):
    """Anything that says where values live; in practice a strategy."""

    @property
    def placement(self) -> Placement: ...


@dataclass(frozen=True, eq=False)
class MergeCall:
    """All replicas speak with one voice for the length of a `merge_call`, made by ``replica``."""

    replica: Replica

    def __post_init__(self) -> None:
        self.replica.check_all_replicas_arrive()


class _Stack(threading.local):
    def __init__(self) -> None:
        self.entries: list[HasPlacement | Replica | MergeCall | None] = []


_stack = _Stack()
_global: HasPlacement | None = None


def current_strategy() -> HasPlacement | None:
    """The innermost strategy of this thread, else the one set for the process, else None."""
    return _strategy_of(_stack.entries[-1]) if _stack.entries else _global


def current_replica() -> Replica | None:
    """The replica that runs here; None where code runs once for all of them."""
    top = _stack.entries[-1] if _stack.entries else None
    return top if isinstance(top, Replica) else None


def merging_replica() -> Replica | None:
    """The replica that made the `merge_call` in which code runs now, or None."""
    top = _stack.entries[-1] if _stack.entries else None
    return top.replica if isinstance(top, MergeCall) else None


@contextlib.contextmanager
def enter_strategy(strategy: HasPlacement) -> Iterator[None]:
    """Makes ``strategy`` current in this thread. Entering another one inside is an error."""
    inside = current_strategy()
    if inside is not None and inside is not strategy:
        raise RuntimeError(
            f"Cannot enter the scope of {strategy!r} inside the scope of {inside!r}. "
            "A model belongs to one strategy: leave the first scope before you enter the second."
        )
    if current_replica() is not None:
        raise RuntimeError(
            f"Cannot enter the scope of {strategy!r} inside a function that `run` calls on each replica. "
            "Make variables before, or let layers make theirs when they are called: they belong to the strategy anyway."
        )
    with _pushed(strategy):
        yield


@contextlib.contextmanager
def run_as(one: Replica | MergeCall) -> Iterator[None]:
    """What runs in this block runs on one replica, or on all as one."""
    with _pushed(one):
        yield


@contextlib.contextmanager
def outside_of_replicas() -> Iterator[None]:
    """Inside a replica: what runs in this block runs once for all of them."""
    if not _stack.entries:
        yield
        return
    with _pushed(current_strategy()):
        yield


@contextlib.contextmanager
def outside_of_strategies() -> Iterator[None]:
    """What is made in this block belongs to no strategy."""
    with _pushed(None):
        yield


def set_global_strategy(strategy: HasPlacement | None) -> None:
    """Makes ``strategy`` current everywhere outside of scopes; None undoes it."""
    global _global
    if _stack.entries:
        raise RuntimeError(
            f"experimental_set_strategy must not be called inside a scope; this is the scope of {current_strategy()!r}."
        )
    _global = strategy


@contextlib.contextmanager
def _pushed(entry: HasPlacement | Replica | MergeCall | None) -> Iterator[None]:
    _stack.entries.append(entry)
    try:
        yield
    finally:
        if not _stack.entries or _stack.entries[-1] is not entry:
            raise RuntimeError(
                f"The scope of {_strategy_of(entry)!r} was left out of order. Use `with strategy.scope():`."
            )
        _stack.entries.pop()


def _strategy_of(entry: HasPlacement | Replica | MergeCall | None) -> HasPlacement | None:
    if isinstance(entry, MergeCall):
        return entry.replica.strategy
    return entry.strategy if isinstance(entry, Replica) else entry
