"""Stages without a memory of their own: one element in, one out."""

from __future__ import annotations

from collections.abc import Callable

from unisono.plans._operation import Deferred, Elements, State


class Each(Elements):
    """`function` of every deferred element."""

    def __init__(self, upstream: Elements, function: Callable[[Deferred], Deferred]) -> None:
        self._upstream, self._function = upstream, function

    def __next__(self) -> Deferred:
        return self._function(next(self._upstream))

    def get_state(self) -> State:
        return self._upstream.get_state()

    def set_state(self, state: State) -> None:
        self._upstream.set_state(state)

    def close(self) -> None:
        self._upstream.close()
