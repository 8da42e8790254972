"""Elements that are held back for later, and how to find them again after a restart.

A shuffle buffer, a window or a bucket holds elements that were read long ago. Its state names them by number;
to restore it, the input is set to a position before the oldest of them and read again up to where it was. Their
maps do not run for that: elements are deferred.
"""

from __future__ import annotations

from collections.abc import Collection

from unisono._src.data.plans._operation import Deferred, Elements, State
from unisono._src.data.plans._passes import ENDED_EARLY

_INTERVAL = 64
"""Elements between two positions that are remembered. The state of an input may cost more than an element."""


class TrackedInput:
    """Numbers the elements of an input."""

    def __init__(self, upstream: Elements) -> None:
        self._upstream = upstream
        self._read = 0
        self._positions: list[tuple[int, State]] = []

    def next(self) -> tuple[int, Deferred] | None:
        """The next element and its number; None at the end."""
        number = self._read
        if number % _INTERVAL == 0:
            self._positions.append((number, self._upstream.get_state()))
        element = next(self._upstream, None)
        if element is None:
            return None
        self._read = number + 1
        return number, element

    def forget(self, held: Collection[int]) -> None:
        """Only these elements, and later ones, will be needed. Call it from time to time."""
        oldest = min(held, default=self._read)
        while len(self._positions) > 1 and self._positions[1][0] <= oldest:
            del self._positions[0]

    def get_state(self, held: Collection[int]) -> State:
        """Enough to read the elements `held` again."""
        if not held:
            return {"first": self._read, "read": self._read, "input": self._upstream.get_state()}
        self.forget(held)
        first, position = self._positions[0]
        return {"first": first, "read": self._read, "input": position}

    def set_state(self, state: State, held: Collection[int]) -> dict[int, Deferred]:
        """Moves to that position; returns the elements `held` by their numbers."""
        wanted = set(held)
        self._upstream.set_state(state["input"])
        self._read, self._positions = state["first"], [(state["first"], state["input"])]
        found: dict[int, Deferred] = {}
        while self._read < state["read"]:
            numbered = self.next()
            if numbered is None:
                raise ValueError(ENDED_EARLY)
            number, element = numbered
            if number in wanted:
                found[number] = element
        return found

    def close(self) -> None:
        self._upstream.close()
