"""Plans with random access: the rows of every batch of every pass are a pure function of the plan.

`index_plan` takes as many operations as it can from the beginning of a plan, and splits them into what happens to
row numbers (on the host, vectorized) and what happens to data (the maps, left to the caller, which may compile
them). Each operation says itself what it does to rows (`Operation.on_rows`). The first one that cannot be done exactly
as the reference executor does it is left to that executor, together with everything after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._operation import INFINITE_CARDINALITY, Operation, PassId
from unisono._src.data.plans._pass_batches import PassBatches, cut_into_batches
from unisono._src.data.plans._row_order import IdentityProbe, Origin, RowOrder, RowRequest
from unisono._src.data.plans._row_plan import IndexedMap, RowPlan

if TYPE_CHECKING:
    from unisono._src.data.plans._batch import Batch
    from unisono._src.data.plans._plan import Plan


@dataclass(frozen=True, eq=False)
class Identities:
    """The identities of the rows of a pass, with a column for each origin: random numbers are derived from them."""

    epochs: NDArray[np.int32]
    positions: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PassRows:
    """The rows of one pass, or of one segment of an endless one."""

    batches: PassBatches
    identities: Identities | None = None
    """None where no map needs them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class IndexedPlan:
    """A plan as row numbers and maps. Made by `index_plan`.

    Row numbers have a column, a *table*, for each source that is read in a separate order: one for a
    plan over arrays, and one more for each plan zipped with it.
    """

    arrays: Nest
    """The sources, as the user gave them: leaves have rows."""
    tables: tuple[int, ...]
    """For each leaf of `arrays`, the column of the row numbers that addresses it."""
    element_maps: tuple[IndexedMap, ...]
    """Functions of one element, in order, to be applied before batching."""
    batch_maps: tuple[IndexedMap, ...]
    """Functions of one batch, in order."""
    batch: Batch | None
    """How rows are batched; None for single elements."""
    cardinality: int
    """Elements in one pass; INFINITE_CARDINALITY when the plan repeats without end."""
    shuffles_fully: bool
    """Whether a shuffle after it permutes all elements."""
    rounds_per_segment: int
    """For plans without end: the rounds of the data in one segment of `pass_batches`."""
    num_shuffles: int
    """Shuffles among the operations it was made of."""
    origins: tuple[Origin, ...] = field(repr=False)
    """What identifies the elements of maps; the last one identifies those of the whole plan."""
    order: RowOrder = field(repr=False)

    @property
    def num_batches(self) -> int | None:
        """Batches (or elements) in one pass; None when the plan repeats without end."""
        return None if self.cardinality < 0 else self.cardinality

    @property
    def num_tables(self) -> int:
        """Columns of the row numbers."""
        return max(self.tables) + 1

    def pass_rows(self, pass_id: PassId, segment: int = 0, *, identified: bool) -> PassRows:
        """`pass_batches`, with `pass_identities` if `identified`."""
        return PassRows(
            self.pass_batches(pass_id, segment), self.pass_identities(pass_id, segment) if identified else None
        )

    def pass_batches(self, pass_id: PassId, segment: int = 0) -> PassBatches:
        """The row numbers of a pass: a pure function of the arguments.

        A plan without end has one endless pass per ID; it is given in segments: 0, 1, 2, … one after the other.
        A plan without a batch gives batches of one row.
        """
        return self._rows(pass_id, segment, None)

    def pass_identities(self, pass_id: PassId, segment: int = 0) -> Identities:
        """The identities of the rows of `pass_batches`."""

        def columns(what: Literal["epoch", "position"]) -> NDArray[np.int32]:
            return np.stack(
                [self._rows(pass_id, segment, IdentityProbe(origin, what)).rows for origin in self.origins], axis=1
            )

        return Identities(columns("epoch"), columns("position"))

    def _rows(self, pass_id: PassId, segment: int, probe: IdentityProbe | None) -> PassBatches:
        rounds = None if self.num_batches is not None else (segment, self.rounds_per_segment)
        rows = self.order.rows(RowRequest(pass_id, rounds, probe))
        return rows if isinstance(rows, PassBatches) else cut_into_batches(rows, 1, len(rows))


def index_plan(plan: Plan, *, recomputes_cached_maps: bool = True) -> tuple[IndexedPlan, tuple[Operation, ...]] | None:
    """The beginning of the plan with random access, and the operations that are left to the reference executor.

    None if the source has no rows. Without `recomputes_cached_maps`, nothing is taken from the first cache on that
    keeps the results of a map.

    >>> import numpy as np
    >>> from unisono._src.data.plans import ArraySlices, Batch, Plan, Shuffle, index_plan
    >>> beginning, rest = index_plan(Plan(ArraySlices(np.arange(5)), (Shuffle(5, seed=1), Batch(2))))
    >>> beginning.num_batches, sorted(beginning.pass_batches((0,)).rows.tolist()), rest
    (3, [0, 1, 2, 3, 4], ())
    """
    rows = plan.source.as_rows()
    if rows is None:
        return None
    rows = replace(rows, recomputes_cached_maps=recomputes_cached_maps)
    for number, operation in enumerate(plan.operations):
        following = operation.on_rows(rows)
        if following is None:
            return _finish(rows), plan.operations[number:]
        rows = following
    return _finish(rows), ()


def _finish(rows: RowPlan) -> IndexedPlan:
    return IndexedPlan(
        arrays=rows.arrays,
        tables=rows.tables,
        element_maps=rows.maps[: rows.num_element_maps],
        batch_maps=rows.maps[rows.num_element_maps :],
        batch=rows.batch,
        cardinality=INFINITE_CARDINALITY if rows.is_endless else rows.size,
        shuffles_fully=rows.shuffles_fully,
        rounds_per_segment=rows.rounds_per_segment,
        num_shuffles=rows.num_shuffles,
        origins=rows.origins,
        order=rows.order,
    )
