"""take: the first elements."""

from __future__ import annotations

from dataclasses import dataclass

from unisono._src.data.plans._arguments import check_int
from unisono._src.data.plans._operation import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Deferred,
    Elements,
    Operation,
    PassId,
    Upstream,
)
from unisono._src.data.plans._passes import StatefulElements
from unisono._src.data.plans._repeat import limit_rounds
from unisono._src.data.plans._row_plan import RowPlan


@dataclass(frozen=True)
class Take(Operation):
    """At most `count` elements; a negative count takes all."""

    keeps_random_access = True
    commutes_with_maps = True

    count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", check_int(self.count, "take", "count"))

    def cardinality(self, upstream: int) -> int:
        if self.count < 0 or upstream == 0:
            return upstream
        if upstream == INFINITE_CARDINALITY or self.count == 0:
            return self.count
        return UNKNOWN_CARDINALITY if upstream < 0 else min(upstream, self.count)

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _FirstElements(upstream.open(pass_id), self.count)

    def on_rows(self, rows: RowPlan) -> RowPlan | None:
        if self.count < 0:
            return rows
        finite = limit_rounds(rows, self.count)
        return finite and finite.select(min(finite.size, self.count), lambda number, pass_id: slice(0, self.count))

    def __str__(self) -> str:
        return f"take({self.count})"


class _FirstElements(StatefulElements):
    own_state = "_left"

    def __init__(self, upstream: Elements, count: int) -> None:
        self._upstream, self._left = upstream, count

    def __next__(self) -> Deferred:
        if self._left == 0:
            raise StopIteration
        element = next(self._upstream)
        self._left -= 1  # a negative count never reaches 0
        return element
