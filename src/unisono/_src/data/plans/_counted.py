"""Passes over what can be had by number: the state is the number."""

from __future__ import annotations

from collections.abc import Callable

from unisono._src.data.plans._operation import Deferred, Elements, State


class NumberedElements(Elements):
    """Elements 0 to `size` of `element`. `size` None: without end.

    `source` is what they were read from, if that holds anything that has to be given back.
    """

    def __init__(self, size: int | None, element: Callable[[int], Deferred], source: Elements | None = None) -> None:
        self._size, self._element, self._source = size, element, source
        self._position = 0

    def __next__(self) -> Deferred:
        position = self._position
        if position == self._size:
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
