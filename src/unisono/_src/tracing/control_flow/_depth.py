"""How many choices and loops of a program are one inside of the other: Python's stack has an end."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Final

from unisono._src.tracing.control_flow._errors import Place

TOO_DEEP = """{number} choices or loops are one inside of the other here, more than Python's stack holds.
If a function calls itself, on a condition that is known only when the program runs, there is no end to it: write a
`while`. If many `return`s or `elif`s follow each other, the rest after each is inside of it: compute the number of the
case first, as by adding up conditions, and take the result from an array, results[number]."""

_MANY: Final = 20


class Deeper:
    """A choice or a loop that is being traced, and all that is inside of it.

    Args:
        place: where it stands.
    """

    def __init__(self, place: Place) -> None:
        self._place = place

    def __enter__(self) -> None:
        _levels.now += 1
        _levels.deepest = _levels.now if _levels.now == 1 else max(_levels.deepest, _levels.now)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _levels.now -= 1
        # The outermost one speaks: inside there is no room left to say anything.
        if _levels.now == 0 and isinstance(error, RecursionError) and _levels.deepest >= _MANY:
            raise self._place.error(TOO_DEEP.format(number=_levels.deepest)) from None


class _Levels(threading.local):
    now = 0
    deepest = 0


_levels = _Levels()
