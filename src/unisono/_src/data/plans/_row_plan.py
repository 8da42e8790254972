"""A plan as row numbers, while its operations are taken one after the other: what `Operation.on_rows` works on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unisono._src.data.plans._arguments import function_name
from unisono._src.data.plans._branch_map import BranchMap
from unisono._src.data.plans._nest import Nest, flatten
from unisono._src.data.plans._operation import PassId
from unisono._src.data.plans._row_order import Origin, RowOrder, RowStep, Selection, SelectRows

if TYPE_CHECKING:
    from unisono._src.data.plans._batch import Batch

MAX_REPEATED_ROWS = 2**26
"""Row numbers are made a pass at a time: 2**26 of them are 256 MB. Longer repeats are streamed."""


@dataclass(frozen=True, eq=False)
class IndexedMap:
    """A map that is applied to elements or batches after their rows have been gathered."""

    function: Callable[..., Any]
    seed: int
    num_parallel_calls: int | None
    origin: int = 0
    """Which of the plan's `origins` identifies its elements."""
    cached: bool = False
    """Whether a `cache()` follows: it may be computed once and kept, and must be if it is not pure."""

    def __str__(self) -> str:
        return f"map({function_name(self.function)})"

    def on_branch(self, like: Nest, index: int, origin: int) -> IndexedMap:
        """The same map on one part of a larger element."""
        return replace(self, function=BranchMap(like, index, self.function), origin=origin)


@dataclass(frozen=True, eq=False, kw_only=True)
class RowPlan:
    """Arrays, the order in which their rows are read, and the maps of what was read."""

    arrays: Nest
    tables: tuple[int, ...]
    """For each leaf of `arrays`, the column of the row numbers that addresses it."""
    order: RowOrder
    size: int
    """Elements in one pass, or in one round of an endless one."""
    maps: tuple[IndexedMap, ...] = ()
    num_element_maps: int = 0
    """The maps that come before the batch."""
    batch: Batch | None = None
    num_rows: int = 0
    """Rows in all batches together, once there are batches."""
    endless_step: int | None = None
    """Which step repeats without end."""
    round_size: int = 0
    """Elements in one round of the endless repeat."""
    rounds_per_segment: int = 1
    """Rounds after which an endless repeat and its batches end together."""
    origins: tuple[Origin, ...] = (Origin(),)
    shuffles_fully: bool = True
    """Whether the reference executor would permute all elements here."""
    num_shuffles: int = 0
    recomputes_cached_maps: bool = True
    """Whether maps before a cache may be computed again: only pure ones may."""

    @staticmethod
    def of_arrays(arrays: Nest, num_rows: int) -> RowPlan | None:
        """The rows of arrays, in order. Row numbers are int32: None if there are more."""
        if num_rows >= 2**31:
            return None
        return RowPlan(arrays=arrays, tables=(0,) * len(flatten(arrays)), order=RowOrder(num_rows), size=num_rows)

    @property
    def is_endless(self) -> bool:
        """Whether it repeats without end."""
        return self.endless_step is not None

    @property
    def has_batch_maps(self) -> bool:
        """Whether maps follow the batch."""
        return len(self.maps) > self.num_element_maps

    def then(self, step: RowStep, size: int, **changes: Any) -> RowPlan:
        """With one more step, after which there are `size` elements."""
        steps, origins = self.order.steps, changes.pop("origins", self.origins)
        if step.renews_identity:
            origins = (*origins, Origin(step=len(steps)))
        return replace(self, order=replace(self.order, steps=(*steps, step)), size=size, origins=origins, **changes)

    def select(self, size: int, choose: Callable[[int, PassId], Selection], **changes: Any) -> RowPlan:
        """`size` of the elements; `choose(number of elements, pass_id)` says which, in which order."""
        return self.then(SelectRows(choose), size, **changes)

    def then_map(self, function: Callable[..., Any], seed: int, num_parallel_calls: int | None) -> RowPlan:
        """With a function of each element, or of each batch if there are batches."""
        added = IndexedMap(function, seed, num_parallel_calls, origin=len(self.origins) - 1)
        return replace(self, maps=(*self.maps, added), num_element_maps=self.num_element_maps + (self.batch is None))
