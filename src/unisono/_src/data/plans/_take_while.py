"""take_while: the elements before the first for which a function says no."""

from __future__ import annotations

from dataclasses import dataclass

from unisono._src.data.plans._identity import ComputedElement
from unisono._src.data.plans._operation import Deferred, Elements, Path, State, Upstream
from unisono._src.data.plans._predicate import PredicateOperation


@dataclass(frozen=True)
class TakeWhile(PredicateOperation):
    """The elements up to the first of which `predicate` is false."""

    @property
    def call(self) -> str:
        return "take_while"

    def elements(self, upstream: Upstream, path: Path) -> Elements:
        return _Leading(upstream.open(path), self)


class _Leading(Elements):
    def __init__(self, upstream: Elements, operation: TakeWhile) -> None:
        self._upstream, self._operation = upstream, operation
        self._over = False

    def __next__(self) -> Deferred:
        if not self._over:
            for element in self._upstream:
                value = ComputedElement.of(element)
                if self._operation.accepts(value):
                    return value
                break
            self._over = True
        raise StopIteration

    def get_state(self) -> State:
        return {"over": self._over, "input": self._upstream.get_state()}

    def set_state(self, state: State) -> None:
        self._over = state["over"]
        self._upstream.set_state(state["input"])

    def close(self) -> None:
        self._upstream.close()
