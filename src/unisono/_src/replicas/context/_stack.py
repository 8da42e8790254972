"""What code runs under: a strategy, for all replicas together, or one replica of it. A stack for each thread.

Of a strategy only its placement is used here.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from unisono._src.devices import Placement, check_not_forked
from unisono._src.processes import note_exit
from unisono._src.replicas.context._replica import Replica


class HasPlacement(Protocol):
    """Anything with a placement; in practice a strategy."""

    @property
    def placement(self) -> Placement: ...


@dataclass(frozen=True, eq=False)
class MergeCall:
    """The code of a `merge_call`, which runs once for all replicas; ``replica`` is the one whose code called it."""

    replica: Replica

    def __post_init__(self) -> None:
        self.replica.check_all_replicas_arrive()


class _Stack(threading.local):
    def __init__(self) -> None:
        self.entries: list[HasPlacement | Replica | MergeCall | None] = []


_stack = _Stack()
_global: HasPlacement | None = None
_idle: weakref.WeakSet[HasPlacement] = weakref.WeakSet()  # strategies of several replicas that nobody has used yet


def current_strategy() -> HasPlacement | None:
    """The innermost strategy of this thread, else the one set for the process, else None."""
    return _strategy_of(_stack.entries[-1]) if _stack.entries else _global


def current_replica() -> Replica | None:
    """The replica whose code runs; None where code runs once for all of them."""
    top = _stack.entries[-1] if _stack.entries else None
    return top if isinstance(top, Replica) else None


def merging_replica() -> Replica | None:
    """The replica that called the `merge_call` in which code runs; None outside one."""
    top = _stack.entries[-1] if _stack.entries else None
    return top.replica if isinstance(top, MergeCall) else None


def expect_use(strategy: HasPlacement) -> None:
    """Called with every new strategy; see :func:`idle_strategy`."""
    if strategy.placement.num_replicas > 1:
        _idle.add(strategy)


def idle_strategy() -> HasPlacement | None:
    """A strategy of several replicas whose scope was never entered, nor anything run on it; None if there is none."""
    return next(iter(_idle), None)


@contextlib.contextmanager
def enter_strategy(strategy: HasPlacement) -> Iterator[None]:
    """Makes ``strategy`` current in this thread. Entering another one inside is an error."""
    check_not_forked()
    current = current_strategy()
    if current is not None and current is not strategy:
        raise RuntimeError(
            f"Cannot enter the scope of {strategy!r} inside the scope of {current!r}. "
            "A model belongs to one strategy: leave the first scope before you enter the second, or call a method of "
            "one of its models, such as fit."
        )
    if current_replica() is not None:
        raise RuntimeError(
            f"Cannot enter the scope of {strategy!r} inside a function that `run` calls on each replica. "
            "Make variables before, or let layers make theirs when they are called: these belong to the strategy."
        )
    with _push(strategy):
        try:
            yield
        except SystemExit as exit_:
            note_exit(exit_.code)
            raise


@contextlib.contextmanager
def run_as(replica: Replica | MergeCall) -> Iterator[None]:
    """Code in this block runs on one replica, or in a `merge_call`."""
    with _push(replica):
        yield


@contextlib.contextmanager
def outside_of_replicas() -> Iterator[None]:
    """Inside a replica: code in this block runs once for all of them."""
    if not _stack.entries:
        yield
        return
    with _push(current_strategy()):
        yield


@contextlib.contextmanager
def outside_of_strategies() -> Iterator[None]:
    """What is made in this block belongs to no strategy."""
    with _push(None):
        yield


def set_global_strategy(strategy: HasPlacement | None) -> None:
    """Makes ``strategy`` current everywhere outside scopes; None undoes it."""
    global _global
    if _stack.entries:
        raise RuntimeError(
            f"experimental_set_strategy must not be called inside a scope; this is the scope of {current_strategy()!r}."
        )
    _global = strategy
    _idle.clear()


@contextlib.contextmanager
def _push(entry: HasPlacement | Replica | MergeCall | None) -> Iterator[None]:
    _stack.entries.append(entry)
    if entry is not None:
        _idle.clear()  # whoever uses one strategy has not forgotten the others
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
