"""Functions that pull data while they run: they run as Python loops on the host, and what they call is compiled."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

_T = TypeVar("_T")

_MAX_DEFINITIONS: Final = 8

REDEFINED = """{function} was defined {number} times, and each time refers to something else: to the batch, for example.
Each program was compiled for what it refers to; from now on it is traced in every call. Define it before the loop, and
pass what changes as an argument:
    strategy.run(step, args=(batch,))"""


@dataclass
class _KnownFunction:
    """A function, and what was made for it. Keeps alive the objects whose IDs are in its key."""

    function: Callable[..., Any]
    made: Any
    is_used_again: bool = False


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

    A function that is defined again in every iteration counts as the same if its code and what it refers to are. If
    what it refers to changes with every definition, so that none is used again, nothing more is made for it. Methods
    of several objects, and closures that are used in turn, are each made once.
    """
    if not _host_loops.caches:
        return None
    code, key = (_code(function), id(getattr(function, "__self__", None))), _key(function)
    known: dict[Any, _KnownFunction] | None = _host_loops.caches[-1].setdefault(code, {})
    if known is None:
        return None
    if key in known:
        known[key].is_used_again = True
    else:
        if code[0] is not None and sum(not each.is_used_again for each in known.values()) == _MAX_DEFINITIONS:
            _host_loops.caches[-1][code] = None
            name = getattr(function, "__qualname__", repr(function))
            warnings.warn(REDEFINED.format(function=name, number=_MAX_DEFINITIONS + 1), UserWarning, stacklevel=5)
            return None
        known[key] = _KnownFunction(function, make())
    made: _T = known[key].made
    return made


def _code(function: Any) -> Any:
    return getattr(function, "__code__", None) or getattr(getattr(function, "__func__", None), "__code__", None)


def _key(function: Any) -> Any:
    if _code(function) is None:
        return id(function)
    references = [_cell_content(cell) for cell in getattr(function, "__closure__", None) or ()]
    references += getattr(function, "__defaults__", None) or ()
    references += (getattr(function, "__kwdefaults__", None) or {}).values()
    return tuple(map(_value_key, references))


def _cell_content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _value_key(value: Any) -> Any:
    return (type(value), value) if isinstance(value, bool | int | float | str | None) else id(value)
