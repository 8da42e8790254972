"""take: the first elements."""

from __future__ import annotations

from dataclasses import dataclass

from unisono._src.data.plans._cardinality import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from unisono._src.data.plans._operation import Deferred, Elements, Operation, Path, State, Upstream
from unisono._src.data.plans._whole_number import whole_number


@dataclass(frozen=True)
class Take(Operation):
    """At most `count` elements; a negative count takes all."""

    count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", whole_number(self.count, "take", "count"))

    @property
    def keeps_random_access(self) -> bool:
        return True

    def cardinality(self, upstream: int) -> int:
        if self.count < 0 or upstream == 0:
            return upstream
        if upstream == INFINITE_CARDINALITY or self.count == 0:
            return self.count
        return UNKNOWN_CARDINALITY if upstream < 0 else min(upstream, self.count)

    def elements(self, upstream: Upstream, path: Path) -> Elements:
        return _First(upstream.open(path), self.count)

    def __str__(self) -> str:
        return f"take({self.count})"


class _First(Elements):
    def __init__(self, upstream: Elements, count: int) -> None:
        self._upstream, self._left = upstream, count

    def __next__(self) -> Deferred:
        if self._left == 0:
            raise StopIteration
        element = next(self._upstream)
        self._left -= 1  # of a negative count there is always more left
        return element

    def get_state(self) -> State:
        return {"left": self._left, "input": self._upstream.get_state()}

    def set_state(self, state: State) -> None:
        self._left = state["left"]
        self._upstream.set_state(state["input"])

    def close(self) -> None:
        self._upstream.close()
