"""take_while: the elements before the first for which a function says no."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unisono.plans._cardinality import UNKNOWN_CARDINALITY
from unisono.plans._filter import verdict
from unisono.plans._identity import Computed
from unisono.plans._map import check_function, function_name
from unisono.plans._operation import Deferred, Elements, Operation, Path, State, Upstream


@dataclass(frozen=True)
class TakeWhile(Operation):
    """The elements up to the first of which `predicate` is false."""

    predicate: Callable[..., Any]

    def __post_init__(self) -> None:
        check_function(self.predicate, "take_while")

    @property
    def keeps_access(self) -> bool:
        return False

    def cardinality(self, upstream: int) -> int:
        return UNKNOWN_CARDINALITY if upstream else 0

    def elements(self, upstream: Upstream, path: Path) -> Elements:
        return _Leading(upstream.open(path), self)

    def __str__(self) -> str:
        return f"take_while({function_name(self.predicate)})"


class _Leading(Elements):
    def __init__(self, upstream: Elements, operation: TakeWhile) -> None:
        self._upstream, self._operation = upstream, operation
        self._over = False

    def __next__(self) -> Deferred:
        if not self._over:
            for element in self._upstream:
                value = Computed(element())
                if verdict(self._operation.predicate, value.value, self._operation):
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
