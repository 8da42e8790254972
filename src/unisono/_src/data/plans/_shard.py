"""shard: every n-th element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unisono._src.data.plans._arguments import check_int
from unisono._src.data.plans._operation import Deferred, Elements, Operation, PassId, Upstream
from unisono._src.data.plans._passes import StatefulElements

if TYPE_CHECKING:
    from unisono._src.data.plans._row_plan import RowPlan


@dataclass(frozen=True)
class Shard(Operation):
    """Elements `index`, `index + num_shards`, `index + 2 * num_shards`, …"""

    keeps_random_access = True
    commutes_with_maps = True

    num_shards: int
    index: int

    def __post_init__(self) -> None:
        num_shards = check_int(self.num_shards, "shard", "num_shards")
        index = check_int(self.index, "shard", "index")
        if num_shards < 1 or not 0 <= index < num_shards:
            raise ValueError(
                f"shard: got num_shards={num_shards} and index={index}. Expected num_shards of at least 1 and an "
                f"index from 0 to num_shards - 1: shard(num_shards=4, index=0) is the first of four."
            )
        object.__setattr__(self, "num_shards", num_shards)
        object.__setattr__(self, "index", index)

    def cardinality(self, upstream: int) -> int:
        if upstream < 0:
            return upstream
        return max(0, -(-(upstream - self.index) // self.num_shards))

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _ShardElements(upstream.open(pass_id), self)

    def on_rows(self, rows: RowPlan) -> RowPlan | None:
        if rows.is_endless:
            return None
        which = slice(self.index, None, self.num_shards)
        return rows.select(self.cardinality(rows.size), lambda number, pass_id: which)

    def __str__(self) -> str:
        return f"shard({self.num_shards}, {self.index})"


class _ShardElements(StatefulElements):
    own_state = "_to_skip"

    def __init__(self, upstream: Elements, shard: Shard) -> None:
        self._upstream, self._shard = upstream, shard
        self._to_skip = shard.index

    def __next__(self) -> Deferred:
        while self._to_skip:
            next(self._upstream)
            self._to_skip -= 1
        element = next(self._upstream)
        self._to_skip = self._shard.num_shards - 1
        return element
