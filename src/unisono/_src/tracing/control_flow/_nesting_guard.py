"""How deeply conditionals and loops of a program are nested, for the error when Python's stack overflows."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Final

from unisono._src.tracing.control_flow._errors import SourceLocation

TOO_DEEP = """{number} conditionals or loops are nested here, more than Python's stack holds.
If a function calls itself, on a condition that is known only when the program runs, the recursion never ends: write a
`while`. If many `return`s or `elif`s follow each other, what follows each is nested in it: compute the number of the
case first, as by adding up conditions, and take the result from an array, results[number]."""

_MANY_LEVELS: Final = 20


class NestingGuard:
    """A conditional or a loop that is being traced, with everything inside it.

    Args:
        location: where it is.
    """

    def __init__(self, location: SourceLocation) -> None:
        self._location = location

    def __enter__(self) -> None:
        _levels.now += 1
        _levels.deepest = _levels.now if _levels.now == 1 else max(_levels.deepest, _levels.now)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _levels.now -= 1
        # The outermost one raises: inside there is no stack left to format a message.
        if _levels.now == 0 and isinstance(error, RecursionError) and _levels.deepest >= _MANY_LEVELS:
            raise self._location.error(TOO_DEEP.format(number=_levels.deepest)) from None


class _Levels(threading.local):
    now = 0
    deepest = 0


_levels = _Levels()
