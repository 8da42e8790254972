"""enumerate: each element with its number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._operation import Deferred, Elements, Operation, Path, State, Upstream
from unisono._src.data.plans._whole_number import whole_number


@dataclass(frozen=True)
class Enumerate(Operation):
    """`(start, first), (start + 1, second), …`"""

    start: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", whole_number(self.start, "enumerate", "start"))

    @property
    def keeps_random_access(self) -> bool:
        return True

    def cardinality(self, upstream: int) -> int:
        return upstream

    def elements(self, upstream: Upstream, path: Path) -> Elements:
        return _Numbered(upstream.open(path), self.start)

    def __str__(self) -> str:
        return f"enumerate({self.start or ''})"


class _Numbered(Elements):
    def __init__(self, upstream: Elements, start: int) -> None:
        self._upstream, self._number = upstream, start

    def __next__(self) -> Deferred:
        element = partial(_pair, self._number, next(self._upstream))
        self._number += 1
        return element

    def get_state(self) -> State:
        return {"number": self._number, "input": self._upstream.get_state()}

    def set_state(self, state: State) -> None:
        self._number = state["number"]
        self._upstream.set_state(state["input"])

    def close(self) -> None:
        self._upstream.close()


def _pair(number: int, element: Deferred) -> Nest:
    return np.asarray(number, np.int64), element()
