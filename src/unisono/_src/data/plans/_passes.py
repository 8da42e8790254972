"""Passes that many operations and sources share."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from unisono._src.data.plans._operation import Deferred, Elements, State

ENDED_EARLY = """The input differs from that of the run that is being resumed: it ended before the position of that run.
Resume with the same data, or start a new run in another folder."""


def next_or_raise(elements: Elements) -> Deferred:
    """The next element of an input that is read again up to a position, where it had one before."""
    element = next(elements, None)
    if element is None:
        raise ValueError(ENDED_EARLY)
    return element


class NumberedElements(Elements):
    """Elements 0 to `size` of `element`. `size` None: without end. The state is a number.

    `source` is what they were read from, if it holds anything that has to be released.
    """

    def __init__(self, size: int | None, element: Callable[[int], Deferred], source: Elements | None = None) -> None:
        self._size, self._source = size, source
        self._element: Callable[[int], Deferred] | None = element
        self._position = 0

    def __next__(self) -> Deferred:
        position = self._position
        if position == self._size or self._element is None:
            raise StopIteration
        self._position = position + 1
        return self._element(position)

    def get_state(self) -> State:
        return self._position

    def set_state(self, state: State) -> None:
        self._position = state

    def close(self) -> None:
        if self._source is not None:
            self._source.close()
            self._element = None  # it may hold elements, and they the file that they are read from


class StatelessElements(Elements):
    """`advance(upstream)` reads what the next element needs, and returns it; StopIteration ends the pass.

    The state is that of `upstream`.
    """

    def __init__(self, upstream: Elements, advance: Callable[[Elements], Deferred]) -> None:
        self._upstream, self._advance = upstream, advance

    def __next__(self) -> Deferred:
        return self._advance(self._upstream)

    def get_state(self) -> State:
        return self._upstream.get_state()

    def set_state(self, state: State) -> None:
        self._upstream.set_state(state)

    def close(self) -> None:
        self._upstream.close()


class StatefulElements(Elements):
    """A pass over `self._upstream` with one value of its own in its state: the attribute that `own_state` names."""

    own_state: ClassVar[str]
    _upstream: Elements

    def get_state(self) -> State:
        return {"own": getattr(self, self.own_state), "input": self._upstream.get_state()}

    def set_state(self, state: State) -> None:
        setattr(self, self.own_state, state["own"])
        self._upstream.set_state(state["input"])

    def close(self) -> None:
        self._upstream.close()


def map_deferred(upstream: Elements, function: Callable[[Deferred], Deferred]) -> Elements:
    """`function` of every deferred element."""
    return StatelessElements(upstream, lambda elements: function(next(elements)))
