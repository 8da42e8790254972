"""Data that can be addressed by row: arrays, and plans over arrays.

The rows of a pass are known before it begins. If the arrays fit on the devices they are sent once, and a pass
costs the transfer of its row numbers; otherwise the rows of some batches at a time are gathered on the host.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np

from unisono._src.core import active_fit_facts, measure
from unisono._src.data.feed._feed import DataPass, Feed, StepChunk
from unisono._src.data.feed._order import NumberedRows, PassOrder
from unisono._src.data.feed._readers import Reader, RowsReader, StackReader, batches_per_stack
from unisono._src.data.plans import PassRows, State, as_read_only, repeat_last_row
from unisono._src.devices import Placement, ReleasableArrays, copies_fit, residency


class IndexedFeed(Feed):
    """A feed over a nest of arrays with equal first dims.

    Args:
        arrays: the rows.
        batch_size: the rows of a regular batch; of the only batch, if a pass has one.
        num_batches: batches in one pass, None if passes follow each other without end.
        order: gives the rows of the next pass.
        transform: runs on each batch inside the program.
        placement: the devices.
        tables: for each leaf of the arrays, the column of the row numbers that addresses it.
        num_origins: columns of the identities that ``order`` gives; 0 if it gives none.
        origin: what the data is; part of the positions of its passes.
        position: where the first pass begins; None at its beginning.
    """

    def __init__(
        self,
        arrays: Any,
        *,
        batch_size: int,
        num_batches: int | None,
        order: PassOrder,
        transform: Callable[..., Any] | None,
        placement: Placement,
        tables: tuple[int, ...] | None = None,
        num_origins: int = 0,
        origin: State = None,
        position: State = None,
    ):
        self._batch_size = batch_size
        self._num_batches = num_batches
        self._order = order
        self._transform = transform
        self._placement = placement
        self._tables = tables
        self._num_origins = num_origins
        self._origin = origin
        self._batches_before = 0 if position is None else position["batches"]
        # Rows gathered in the program and rows gathered before it make two programs, whose sums may differ in a bit.
        self._resident = _should_be_resident(arrays, placement) if position is None else position["resident"]
        self._first_rows: NumberedRows | None = None
        self._copies: ReleasableArrays | None = None
        if self._resident:
            # The order of the first pass is computed while the data is sent: some milliseconds each.
            with ThreadPoolExecutor(1, thread_name_prefix="unisono-first-pass") as thread:
                first_rows = thread.submit(order.next)
                self._copies = placement.place_releasable(jax.tree.map(_as_array, arrays))
            self._arrays = self._copies.arrays
            facts = active_fit_facts()
            if facts is not None:
                facts.add(bytes_sent=self.resident_bytes)
            self._first_rows = first_rows.result()
        else:
            self._arrays = jax.tree.map(as_read_only, arrays)

    @property
    def num_batches(self) -> int | None:
        return self._num_batches

    @property
    def is_endless(self) -> bool:
        return self._num_batches is None

    @property
    def batch_spec(self) -> Any:
        spec = jax.tree.map(_row_spec(self._batch_size), self._arrays)
        if self._transform is None:
            return spec
        return jax.eval_shape(self._transform, spec, self._identity_spec())

    def _identity_spec(self) -> Any:
        lines = jax.ShapeDtypeStruct((self._batch_size, self._num_origins), np.int32)
        return (lines, lines) if self._num_origins else None

    @property
    def is_restartable(self) -> bool:
        return True

    @property
    def can_open_ahead(self) -> bool:
        return True

    @property
    def resume_caveat(self) -> str | None:
        return None

    @property
    def differs_by_process(self) -> bool:
        return False

    @property
    def resident_bytes(self) -> int:
        return sum(array.nbytes for array in jax.tree.leaves(self._arrays)) if self._resident else 0

    def open(self) -> DataPass:
        first, self._first_rows = self._first_rows, None
        number, rows = first or self._order.next()
        before, self._batches_before = self._batches_before, 0
        batches = _Batches(rows, self._batch_size, before)
        pass_position = {"origin": self._origin, "resident": self._resident, "number": list(number)}
        if self._resident:
            reader = RowsReader(self._transform, self._tables)
            return _ResidentPass(self._arrays, batches, pass_position, reader, self._placement)
        return _HostPass(
            self._arrays,
            self._tables,
            batches,
            pass_position,
            self._batch_size,
            StackReader(self._transform),
            self._placement,
        )

    def close(self) -> None:
        pass

    def release(self) -> None:
        copies, self._copies, self._arrays = self._copies, None, None
        if copies is not None:
            copies.release()


class _Batches:
    """The batches of a pass in order, in runs of regular ones and single irregular ones."""

    def __init__(self, pass_rows: PassRows, batch_size: int, position: int):
        self.pass_rows = pass_rows
        self.rows, self.offsets = pass_rows.batches.rows, pass_rows.batches.offsets
        self.sizes = np.diff(self.offsets)
        self.regular = self.sizes == batch_size
        self.position = position

    def next_run(self, max_steps: int) -> tuple[int, int, bool] | None:
        """(first batch, how many, whether regular) of the next run; None at the end."""
        first = self.position
        if first == len(self.sizes):
            return None
        if not self.regular[first]:
            count = 1
        else:
            irregular = np.flatnonzero(~self.regular[first : first + max_steps])
            count = int(irregular[0]) if len(irregular) else min(max_steps, len(self.sizes) - first)
        self.position += count
        return first, count, bool(self.regular[first])

    def read_rows(self, first: int, count: int) -> tuple[np.ndarray[Any, Any], Any]:
        """Row numbers and identities of equally large batches, one line each."""
        which = slice(self.offsets[first], self.offsets[first + count])
        return _as_lines(self.rows[which], count), _identity_lines(self.pass_rows, which, count)


class _ResidentPass(DataPass):
    def __init__(self, data: Any, batches: _Batches, pass_position: State, reader: Reader, placement: Placement):
        self._data, self._reader, self._placement = data, reader, placement
        self._batches, self._pass_position = batches, pass_position
        regular, rows = batches.regular, batches.pass_rows
        # A table of row numbers with one line for each regular batch, and the line of each batch.
        kept = np.repeat(regular, self._batches.sizes)
        num_lines = int(regular.sum())
        lines = _as_lines(rows.batches.rows[kept], num_lines)
        table = (lines, _identity_lines(rows, kept, num_lines))
        self._table = placement.place_rows(table, row_dim=1) if num_lines else None
        self._line = np.cumsum(regular) - 1

    def next_chunk(self, max_steps: int, ahead: int | None) -> StepChunk | None:
        run = self._batches.next_run(max_steps)
        if run is None:
            return None
        first, count, regular = run
        if regular:
            table, start = self._table, int(self._line[first])
        else:
            table, start = self._placement.place_rows(self._batches.read_rows(first, 1), row_dim=1), 0
        assert table is not None, "a regular batch has a line in the table"
        return StepChunk((self._data, *table), self._reader, start, count, table[0].shape[0], regular)

    def position(self) -> State:
        return {**self._pass_position, "batches": self._batches.position}

    def close(self) -> None:
        pass


class _HostPass(DataPass):
    def __init__(
        self,
        data: Any,
        tables: tuple[int, ...] | None,
        batches: _Batches,
        pass_position: State,
        batch_size: int,
        reader: Reader,
        placement: Placement,
    ):
        self._data, self._tables, self._reader, self._placement = data, tables, reader, placement
        self._batches, self._pass_position = batches, pass_position
        self._capacity = batches_per_stack(jax.tree.map(_row_spec(batch_size), data))
        self._stack: Any = None
        self._used = self._held = 0

    def next_chunk(self, max_steps: int, ahead: int | None) -> StepChunk | None:
        if self._used == self._held:
            run = self._batches.next_run(self._capacity)
            if run is None:
                return None
            first, count, regular = run
            rows, identity = self._batches.read_rows(first, count)
            if regular and count < self._capacity:
                # The stack keeps its shape, so that one program is enough; the lines added here are never read.
                rows, identity = jax.tree.map(lambda lines: repeat_last_row(lines, self._capacity), (rows, identity))
            self._stack = (self._place(rows), self._placement.place_rows(identity, row_dim=1))
            self._used, self._held, self._is_regular = 0, count, regular
        start, count = self._used, min(max_steps, self._held - self._used)
        self._used += count
        capacity = self._capacity if self._is_regular else 1
        return StepChunk(self._stack, self._reader, start, count, capacity, self._is_regular)

    def _place(self, rows: np.ndarray[Any, Any]) -> Any:
        """Sends these rows of the data to the devices. A process reads only the rows of its own devices."""
        leaves, tree = jax.tree.flatten(self._data)
        tables = self._tables
        columns = [rows] * len(leaves) if tables is None else [rows[..., table] for table in tables]
        pairs = list(zip(leaves, columns, strict=True))
        if not self._placement.spans_processes:
            gathered = jax.tree.unflatten(tree, [leaf[which] for leaf, which in pairs])
            with measure("copy_seconds"):
                return self._placement.place_rows(gathered, 1)
        placed = [
            self._placement.place_from_reader(
                (*which.shape, *leaf.shape[1:]), functools.partial(_read_rows, leaf, which)
            )
            for leaf, which in pairs
        ]
        return jax.tree.unflatten(tree, placed)

    def position(self) -> State:
        return {**self._pass_position, "batches": self._batches.position - (self._held - self._used)}

    def close(self) -> None:
        self._stack = None


def _read_rows(leaf: Any, rows: np.ndarray[Any, Any], at: tuple[slice, ...]) -> Any:
    return leaf[rows[at]]


def _identity_lines(rows: PassRows, which: Any, num_lines: int) -> Any:
    """(epochs, positions) of some rows, in `num_lines` lines; None if no map draws random numbers."""
    if rows.identities is None:
        return None
    both = (rows.identities.epochs, rows.identities.positions)
    return tuple(_as_lines(numbers[which], num_lines) for numbers in both)


def _as_lines(rows: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """Row numbers, one line for each batch; the columns of several tables stay the last dim."""
    return rows.reshape(count, -1, *rows.shape[1:]) if count else rows


def _as_array(array: Any) -> Any:
    """Anything that has rows, as an array."""
    return array if hasattr(array, "addressable_shards") else np.asarray(array)


def _should_be_resident(arrays: Any, placement: Placement) -> bool:
    where = residency()
    if where != "auto":
        return where == "device"
    return copies_fit(sum(array.nbytes for array in jax.tree.leaves(arrays)), placement.devices)


def _row_spec(num_rows: int) -> Callable[[Any], jax.ShapeDtypeStruct]:
    def spec(array: Any) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((num_rows, *array.shape[1:]), jax.dtypes.canonicalize_dtype(array.dtype))

    return spec
