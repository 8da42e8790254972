"""skip: all but the first elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unisono._src.data.plans._arguments import check_int
from unisono._src.data.plans._operation import INFINITE_CARDINALITY, Deferred, Elements, Operation, PassId, Upstream
from unisono._src.data.plans._passes import StatefulElements

if TYPE_CHECKING:
    from unisono._src.data.plans._row_plan import RowPlan


@dataclass(frozen=True)
class Skip(Operation):
    """Without the first `count` elements; a negative count skips all."""

    keeps_random_access = True
    commutes_with_maps = True

    count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", check_int(self.count, "skip", "count"))

    def cardinality(self, upstream: int) -> int:
        if self.count < 0:
            return 0
        if upstream == INFINITE_CARDINALITY:
            return upstream
        return upstream if upstream < 0 else max(0, upstream - self.count)

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _RemainingElements(upstream.open(pass_id), self.count)

    def on_rows(self, rows: RowPlan) -> RowPlan | None:
        if rows.is_endless:
            return None
        return rows.select(
            self.cardinality(rows.size), lambda number, pass_id: slice(number if self.count < 0 else self.count, None)
        )

    def __str__(self) -> str:
        return f"skip({self.count})"


class _RemainingElements(StatefulElements):
    own_state = "_to_skip"

    def __init__(self, upstream: Elements, count: int) -> None:
        self._upstream, self._to_skip = upstream, count

    def __next__(self) -> Deferred:
        if self._to_skip < 0:
            raise StopIteration
        while self._to_skip:
            next(self._upstream)
            self._to_skip -= 1
        return next(self._upstream)
