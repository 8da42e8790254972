"""unbatch and rebatch: batches split again, into rows or into other batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from unisono._src.data.plans._arguments import check_batch_size
from unisono._src.data.plans._batch import Batch, BatchStep
from unisono._src.data.plans._composite_leaf import CompositeLeaf, concatenate_leaves, has_rows, take_leaf_row
from unisono._src.data.plans._counting_elements import CountingElements
from unisono._src.data.plans._identity import pass_number, renew_identity
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._nest import Nest, flatten, leaf_names, map_leaves, unflatten
from unisono._src.data.plans._operation import (
    UNKNOWN_CARDINALITY,
    Deferred,
    Elements,
    Operation,
    PassId,
    State,
    Upstream,
)
from unisono._src.data.plans._pass_batches import PassBatches
from unisono._src.data.plans._passes import next_or_raise
from unisono._src.data.plans._row_order import Order, RowRequest, RowStep
from unisono._src.data.plans._row_plan import RowPlan
from unisono._src.data.plans._spec import check_has_rows, map_specs, row_spec, with_num_rows

OTHER_BATCHES = """The position to resume at is row {row} of a batch, and that batch has {rows} rows now: the input
gives other batches than before. Pass the same data, or begin anew with another folder."""


@dataclass(frozen=True)
class Unbatch(Operation):
    """The rows of each element, one by one."""

    keeps_random_access = False

    num_rows: int | None = None
    """The rows of every element, if that is known."""

    def cardinality(self, upstream: int) -> int:
        if upstream > 0:
            return UNKNOWN_CARDINALITY if self.num_rows is None else upstream * self.num_rows
        return upstream

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _UnbatchedElements(_RowReader(upstream.open(pass_id), self), pass_number(pass_id))

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        check_has_rows(spec, self)
        return map_specs(row_spec, spec)

    def on_rows(self, rows: RowPlan) -> RowPlan | None:
        if rows.is_endless or rows.has_batch_maps:
            return None
        if not rows.order.steps or not isinstance(rows.order.steps[-1], BatchStep):
            return None  # batches were reordered or left out: the number of rows is not known without looking
        return rows.then(_UnbatchStep(), rows.num_rows, batch=None, shuffles_fully=False)

    def __str__(self) -> str:
        return "unbatch()"


@dataclass(frozen=True)
class Rebatch(Operation):
    """The rows of all elements in batches of other sizes. Several sizes are used one after the other, repeatedly."""

    keeps_random_access = False
    makes_batches = True

    batch_sizes: tuple[int, ...]
    drop_remainder: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "batch_sizes", tuple(check_batch_size(size, "rebatch") for size in self.batch_sizes))
        if not self.batch_sizes:
            raise ValueError("rebatch: got an empty list of batch sizes. Write rebatch(32), or rebatch([16, 32]).")

    @property
    def full_batch_size(self) -> int | None:
        return self.batch_sizes[0] if len(set(self.batch_sizes)) == 1 else None

    def cardinality(self, upstream: int) -> int:
        return UNKNOWN_CARDINALITY if upstream > 0 else upstream

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _RebatchedElements(_RowReader(upstream.open(pass_id), self), self, pass_number(pass_id))

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        check_has_rows(spec, self)
        size = self.batch_sizes[0]
        is_one_size = len(set(self.batch_sizes)) == 1

        def rebatch(leaf: Any) -> Any:
            before = leaf.shape[0] if leaf.shape else None
            is_known = is_one_size and (self.drop_remainder or (before is not None and before % size == 0))
            return with_num_rows(leaf, size if is_known else None)

        return map_specs(rebatch, spec)

    def on_rows(self, rows: RowPlan) -> RowPlan | None:
        if len(self.batch_sizes) > 1:
            return None
        single_rows = Unbatch().on_rows(rows)
        return single_rows and Batch(self.batch_sizes[0], self.drop_remainder).on_rows(single_rows)

    def __str__(self) -> str:
        sizes = self.batch_sizes[0] if len(self.batch_sizes) == 1 else list(self.batch_sizes)
        return f"rebatch({sizes}{', drop_remainder=True' if self.drop_remainder else ''})"


class _UnbatchStep(RowStep):
    """The rows of batches."""

    renews_identity = True

    def apply(self, before: Callable[[RowRequest], Order], request: RowRequest) -> Order:
        batches = before(request)
        assert isinstance(batches, PassBatches), "only batches are unbatched"
        return batches.rows


class _RowReader:
    """Reads batches and gives slices of their rows, at most up to the end of a batch at a time."""

    def __init__(self, upstream: Elements, operation: Operation) -> None:
        self._upstream, self._operation = CountingElements(upstream), operation
        self._batch: Nest = None
        self.given = 0
        """Rows that have been given."""
        self._before_batch: State = None
        self._row = self._num_rows = 0

    def read(self, max_rows: int) -> tuple[Nest, slice] | None:
        """The next rows of one batch; None at the end."""
        while self._row == self._num_rows:
            self._before_batch = self._upstream.get_state()
            element = next(self._upstream, None)
            if element is None:
                self._batch, self._row, self._num_rows = None, 0, 0
                return None
            self._begin(element)
        rows = slice(self._row, min(self._row + max_rows, self._num_rows))
        self.given += rows.stop - rows.start
        self._row = rows.stop
        return self._batch, rows

    def _begin(self, element: Deferred) -> None:
        self._batch, self._row = element(), 0
        self._num_rows = _count_rows(self._batch, self._operation)

    def get_state(self) -> State:
        if self._row == self._num_rows:
            return {"given": self.given, "row": 0, "input": self._upstream.get_state()}
        return {"given": self.given, "row": self._row, "input": self._before_batch}

    def set_state(self, state: State) -> None:
        self._upstream.set_state(state["input"])
        self._batch, self._row, self._num_rows = None, 0, 0
        self.given = state["given"]
        if state["row"]:
            self._before_batch = state["input"]
            self._begin(next_or_raise(self._upstream))
            if self._num_rows < state["row"]:
                raise ValueError(OTHER_BATCHES.format(rows=self._num_rows, row=state["row"]))
            self._row = state["row"]

    def close(self) -> None:
        self._upstream.close()


class _UnbatchedElements(Elements):
    def __init__(self, rows: _RowReader, epoch: int) -> None:
        self._rows, self._epoch = rows, epoch

    def __next__(self) -> Deferred:
        found = self._rows.read(1)
        if found is None:
            raise StopIteration
        batch, rows = found
        return renew_identity(partial(_take_row, batch, rows.start), self._epoch, self._rows.given - 1)

    def get_state(self) -> State:
        return self._rows.get_state()

    def set_state(self, state: State) -> None:
        self._rows.set_state(state)

    def close(self) -> None:
        self._rows.close()


class _RebatchedElements(Elements):
    def __init__(self, rows: _RowReader, operation: Rebatch, epoch: int) -> None:
        self._rows, self._operation, self._epoch = rows, operation, epoch
        self._number = 0

    def __next__(self) -> Deferred:
        sizes = self._operation.batch_sizes
        wanted = sizes[self._number % len(sizes)]
        first = self._rows.given
        parts: list[tuple[Nest, slice]] = []
        while wanted and (found := self._rows.read(wanted)) is not None:
            parts.append(found)
            wanted -= found[1].stop - found[1].start
        if not parts or (wanted and self._operation.drop_remainder):
            raise StopIteration
        self._number += 1
        return renew_identity(partial(_concatenate, parts), self._epoch, first)

    def get_state(self) -> State:
        return {"turn": self._number % len(self._operation.batch_sizes), "rows": self._rows.get_state()}

    def set_state(self, state: State) -> None:
        self._number = state["turn"]
        self._rows.set_state(state["rows"])

    def close(self) -> None:
        self._rows.close()


def _take_row(batch: Nest, row: int) -> Nest:
    return map_leaves(lambda leaf: None if leaf is None else take_leaf_row(leaf, row), batch)


def _concatenate(parts: list[tuple[Nest, slice]]) -> Nest:
    pieces = [_slice(batch, rows) for batch, rows in parts]
    if len(pieces) == 1:
        return pieces[0]
    columns = zip(*map(flatten, pieces), strict=True)
    return unflatten(pieces[0], [None if leaves[0] is None else concatenate_leaves(leaves) for leaves in columns])


def _slice(batch: Nest, rows: slice) -> Nest:
    def cut(leaf: Any) -> Any:
        return leaf.take_rows(rows) if isinstance(leaf, CompositeLeaf) else leaf[rows]

    return map_leaves(lambda leaf: None if leaf is None else cut(leaf), batch)


def _count_rows(batch: Nest, operation: Operation) -> int:
    leaves = [leaf for leaf in flatten(batch) if leaf is not None]
    counts: set[Any] = {leaf.shape[0] if has_rows(leaf) else None for leaf in leaves}
    if len(counts) != 1 or None in counts:
        shapes = ", ".join(
            f"{name}: {getattr(leaf, 'shape', None)}"
            for leaf, name in zip(flatten(batch), leaf_names(batch, "element"), strict=True)
        )
        raise ValueError(
            f"{operation}: the parts of an element need the same first dim, the rows; here they are {shapes}. "
            f"Put batch(...) before it."
        )
    return int(counts.pop())
