"""Functions that pull data while they run: they run as Python loops on the host, and what they call is compiled."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

_T = TypeVar("_T")


class HostLoopNeeded(BaseException):
    """Raised inside a function that is being traced when it asks a dataset for an element, or cannot be compiled.

    Not an Exception: a user's `except Exception` must not catch it.

    Args:
        reason: why it cannot be compiled; empty for a loop over data, whose parts are.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class _HostLoops(threading.local):
    def __init__(self) -> None:
        self.caches: list[dict[Any, Any]] = []


_host_loops = _HostLoops()


@contextlib.contextmanager
def running_on_host(cache: dict[Any, Any]) -> Iterator[None]:
    """Around a function that runs as a Python loop on the host: ``cache`` stores what is compiled for it."""
    _host_loops.caches.append(cache)
    try:
        yield
    finally:
        _host_loops.caches.pop()


def get_or_make_in_host_loop(function: Callable[..., Any], make: Callable[[], _T]) -> _T | None:
    """What ``make`` made for ``function`` in this host loop, made now if there is nothing yet; None outside them.

    A function that is defined again in every iteration counts as the same if its code and what it refers to are.
    """
    if not _host_loops.caches:
        return None
    cache, key = _host_loops.caches[-1], _key(function)
    if key not in cache:
        cache[key] = (make(), function)  # keeps alive the objects whose ids are in the key
    made: _T = cache[key][0]
    return made


def _key(function: Any) -> Any:
    code = getattr(function, "__code__", None) or getattr(getattr(function, "__func__", None), "__code__", None)
    if code is None:
        return id(function)
    references = [_cell_content(cell) for cell in getattr(function, "__closure__", None) or ()]
    references += getattr(function, "__defaults__", None) or ()
    references += (getattr(function, "__kwdefaults__", None) or {}).values()
    return code, id(getattr(function, "__self__", None)), tuple(map(_value_key, references))


def _cell_content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _value_key(value: Any) -> Any:
    return (type(value), value) if isinstance(value, bool | int | float | str | None) else id(value)
