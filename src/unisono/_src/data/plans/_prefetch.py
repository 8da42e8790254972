"""prefetch: a hint to prepare elements ahead of time. It changes no element and no order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unisono._src.data.plans._arguments import check_int
from unisono._src.data.plans._operation import Elements, Operation, PassId, Upstream

if TYPE_CHECKING:
    from unisono._src.data.plans._row_plan import RowPlan

AUTOTUNE = -1


@dataclass(frozen=True)
class Prefetch(Operation):
    """Prepare up to `buffer_size` elements ahead; -1 leaves the number to the executor, 0 means none."""

    keeps_random_access = True
    commutes_with_maps = True
    only_reorders = True

    buffer_size: int

    def __post_init__(self) -> None:
        size = check_int(self.buffer_size, "prefetch", "buffer_size")
        if size < AUTOTUNE:
            raise ValueError(
                f"prefetch: buffer_size must be at least 0, but it is {size}. "
                f"Write prefetch(2), or prefetch(AUTOTUNE) to leave the number to Unisono."
            )
        object.__setattr__(self, "buffer_size", size)

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return upstream.open(pass_id)

    def on_rows(self, rows: RowPlan) -> RowPlan:
        return rows

    def __str__(self) -> str:
        return f"prefetch({'AUTOTUNE' if self.buffer_size == AUTOTUNE else self.buffer_size})"
