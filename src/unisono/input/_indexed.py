"""Data that can be addressed by row: arrays, and plans over arrays.

The rows of a pass are known before it begins. If the arrays fit on the devices they are sent once, and a pass
costs the transfer of its row numbers; else the rows of some batches at a time are gathered on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from unisono.input._capacity import capacity_for
from unisono.input._feed import Feed, Pass, Window
from unisono.input._readers import Reader, RowsReader, StackReader
from unisono.plans import PassBatches
from unisono.runtime import Placement, copies_fit, residency


class IndexedFeed(Feed):
    """A feed over a nest of arrays with equal first dims.

    Args:
        arrays: the rows.
        batch_size: the rows of an ordinary batch; of the only one, if a pass has one.
        num_batches: batches in one pass, None if passes follow each other without end.
        next_rows: gives the row numbers of the next pass.
        transform: runs on each batch inside the program.
        placement: the devices.
    """

    def __init__(
        self,
        arrays: Any,
        *,
        batch_size: int,
        num_batches: int | None,
        next_rows: Callable[[], PassBatches],
        transform: Callable[[Any], Any] | None,
        placement: Placement,
    ):
        self._batch_size = batch_size
        self._num_batches = num_batches
        self._next_rows = next_rows
        self._transform = transform
        self._placement = placement
        self._resident = _lives_on_device(arrays, placement)
        self._arrays = placement.place_copies(arrays) if self._resident else jax.tree.map(np.asarray, arrays)

    @property
    def num_batches(self) -> int | None:
        return self._num_batches

    @property
    def endless(self) -> bool:
        return self._num_batches is None

    @property
    def batch_spec(self) -> Any:
        spec = jax.tree.map(_row_spec(self._batch_size), self._arrays)
        return jax.eval_shape(self._transform, spec) if self._transform else spec

    @property
    def restartable(self) -> bool:
        return True

    @property
    def opens_ahead(self) -> bool:
        return True

    def open(self) -> Pass:
        batches = self._next_rows()
        if self._resident:
            return _ResidentPass(self._arrays, batches, self._batch_size, RowsReader(self._transform), self._placement)
        return _HostPass(self._arrays, batches, self._batch_size, StackReader(self._transform), self._placement)

    def close(self) -> None:
        pass


class _Batches:
    """The batches of a pass in order, in runs of ordinary ones and single odd ones."""

    def __init__(self, batches: PassBatches, batch_size: int):
        self.rows, self.offsets = batches.rows, batches.offsets
        self.sizes = np.diff(batches.offsets)
        self.ordinary = self.sizes == batch_size
        self.position = 0

    def next_run(self, most: int) -> tuple[int, int, bool] | None:
        """(first batch, how many, whether ordinary) of the next run; None at the end."""
        first = self.position
        if first == len(self.sizes):
            return None
        if not self.ordinary[first]:
            count = 1
        else:
            odd = np.flatnonzero(~self.ordinary[first : first + most])
            count = int(odd[0]) if len(odd) else min(most, len(self.sizes) - first)
        self.position += count
        return first, count, bool(self.ordinary[first])

    def rows_of(self, first: int, count: int) -> np.ndarray[Any, Any]:
        """Row numbers of equally large batches, one line each."""
        begin, end = self.offsets[first], self.offsets[first + count]
        return self.rows[begin:end].reshape(count, -1)


class _ResidentPass(Pass):
    def __init__(self, data: Any, batches: PassBatches, batch_size: int, reader: Reader, placement: Placement):
        self._data, self._reader, self._placement = data, reader, placement
        self._batches = _Batches(batches, batch_size)
        ordinary = self._batches.ordinary
        # A table of row numbers with one line for each ordinary batch; which line is whose.
        table = batches.rows[np.repeat(ordinary, self._batches.sizes)].reshape(-1, batch_size)
        self._table = placement.place_rows(table, row_dim=1) if len(table) else None
        self._line = np.cumsum(ordinary) - 1

    def window(self, most: int, ahead: int | None) -> Window | None:
        run = self._batches.next_run(most)
        if run is None:
            return None
        first, count, ordinary = run
        if ordinary:
            table, start = self._table, int(self._line[first])
        else:
            table, start = self._placement.place_rows(self._batches.rows_of(first, 1), row_dim=1), 0
        return Window((self._data, table), self._reader, start, count, table.shape[0], ordinary)  # type: ignore[union-attr]

    def close(self) -> None:
        pass


class _HostPass(Pass):
    def __init__(self, data: Any, batches: PassBatches, batch_size: int, reader: Reader, placement: Placement):
        self._data, self._reader, self._placement = data, reader, placement
        self._batches = _Batches(batches, batch_size)
        self._capacity = capacity_for(jax.tree.map(_row_spec(batch_size), data))
        self._stack: Any = None
        self._used = self._held = 0

    def window(self, most: int, ahead: int | None) -> Window | None:
        if self._used == self._held:
            run = self._batches.next_run(self._capacity)
            if run is None:
                return None
            first, count, ordinary = run
            rows = self._batches.rows_of(first, count)
            if ordinary and count < self._capacity:
                # The stack keeps its shape, so that one program serves it; the lines added here are never read.
                rows = np.pad(rows, ((0, self._capacity - count), (0, 0)), mode="edge")
            stack = jax.tree.map(lambda array: array[rows], self._data)
            self._stack = self._placement.place_rows(stack, row_dim=1)
            self._used, self._held, self._bulk = 0, count, ordinary
        start, count = self._used, min(most, self._held - self._used)
        self._used += count
        capacity = self._capacity if self._bulk else 1
        return Window(self._stack, self._reader, start, count, capacity, self._bulk)

    def close(self) -> None:
        self._stack = None


def _lives_on_device(arrays: Any, placement: Placement) -> bool:
    where = residency()
    if where != "auto":
        return where == "device"
    return copies_fit(sum(array.nbytes for array in jax.tree.leaves(arrays)), placement.devices)


def _row_spec(num_rows: int) -> Callable[[Any], jax.ShapeDtypeStruct]:
    def spec(array: Any) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((num_rows, *array.shape[1:]), jax.dtypes.canonicalize_dtype(array.dtype))

    return spec
