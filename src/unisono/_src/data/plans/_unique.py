"""unique: each element once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono._src.data.plans._identity import ComputedElement
from unisono._src.data.plans._operation import (
    UNKNOWN_CARDINALITY,
    Deferred,
    Elements,
    Operation,
    PassId,
    State,
    Upstream,
)


@dataclass(frozen=True)
class Unique(Operation):
    """The first of all equal elements. An element is one array."""

    keeps_random_access = False

    def cardinality(self, upstream: int) -> int:
        return UNKNOWN_CARDINALITY if upstream else 0

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _UniqueElements(upstream.open(pass_id), self)

    def __str__(self) -> str:
        return "unique()"


class _UniqueElements(Elements):
    """The state grows with the data: it holds every element that was given."""

    def __init__(self, upstream: Elements, operation: Unique) -> None:
        self._upstream, self._operation = upstream, operation
        self._seen: dict[str, None] = {}

    def __next__(self) -> Deferred:
        for element in self._upstream:
            value = ComputedElement.of(element)
            key = self._key(value.value)
            if key not in self._seen:
                self._seen[key] = None
                return value
        raise StopIteration

    def _key(self, element: Any) -> str:
        if not isinstance(element, np.ndarray):
            raise TypeError(
                f"{self._operation}: an element must be one array of numbers or text, not {type(element).__name__}. "
                f"Map to the part that decides: map(lambda x, y: y)."
            )
        return f"{element.dtype}{element.tolist()!r}"

    def get_state(self) -> State:
        return {"seen": list(self._seen), "input": self._upstream.get_state()}

    def set_state(self, state: State) -> None:
        self._seen = dict.fromkeys(state["seen"])
        self._upstream.set_state(state["input"])

    def close(self) -> None:
        self._upstream.close()
