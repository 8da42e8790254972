"""Stages without a memory of their own: where they stand is where their input stands."""

from __future__ import annotations

from collections.abc import Callable

from unisono._src.data.plans._operation import Deferred, Elements, State


class StatelessElements(Elements):
    """`advance(upstream)` reads what the next element needs, and gives it. StopIteration ends the pass."""

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


def map_deferred(upstream: Elements, function: Callable[[Deferred], Deferred]) -> Elements:
    """`function` of every deferred element."""
    return StatelessElements(upstream, lambda elements: function(next(elements)))
