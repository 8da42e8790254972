"""Functions that take data while they run: they turn on the host, and what they call is compiled piece by piece."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

_T = TypeVar("_T")


class HostLoop(BaseException):
    """Raised inside a function that is being traced when it asks a dataset for an element.

    No Exception: a user's `except Exception` must not keep it from the one who traces.
    """


class _Pieces(threading.local):
    def __init__(self) -> None:
        self.caches: list[dict[Any, Any]] = []


_pieces = _Pieces()


@contextlib.contextmanager
def running_on_host(cache: dict[Any, Any]) -> Iterator[None]:
    """While a function turns on the host: ``cache`` keeps what is compiled for it."""
    _pieces.caches.append(cache)
    try:
        yield
    finally:
        _pieces.caches.pop()


def get_or_make_in_host_loop(function: Callable[..., Any], make: Callable[[], _T]) -> _T | None:
    """What was made for ``function`` in this host loop, made now if there is nothing yet; None outside of host loops.

    A function that is defined anew in every turn is the same one if its code and all that it refers to are the same.
    """
    if not _pieces.caches:
        return None
    cache, key = _pieces.caches[-1], _identity(function)
    if key not in cache:
        cache[key] = (make(), function)  # keeps alive what the identity is made of
    made: _T = cache[key][0]
    return made


def _identity(function: Any) -> Any:
    code = getattr(function, "__code__", None) or getattr(getattr(function, "__func__", None), "__code__", None)
    if code is None:
        return id(function)
    referred = [_content(cell) for cell in getattr(function, "__closure__", None) or ()]
    referred += getattr(function, "__defaults__", None) or ()
    referred += (getattr(function, "__kwdefaults__", None) or {}).values()
    return code, id(getattr(function, "__self__", None)), tuple(map(_same, referred))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _same(value: Any) -> Any:
    return (type(value), value) if isinstance(value, bool | int | float | str | None) else id(value)
