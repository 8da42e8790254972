"""The beginning of a plan that has rows, run on the host: a source whose elements are gathered and mapped rows.

Where all maps can be traced, several batches at a time are gathered and mapped by one compiled call. Otherwise
each element is gathered and mapped alone, in Python.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

import jax
import numpy as np
from numpy.typing import NDArray

from unisono._src.data.dataset._host_function import HostFunction
from unisono._src.data.dataset._trace import vectorise
from unisono._src.data.plans import (
    Deferred,
    Elements,
    IndexedMap,
    IndexedPlan,
    Nest,
    PassId,
    PassRows,
    RandomDraws,
    Source,
    State,
    apply,
    as_arrays,
    as_read_only,
    flatten,
    map_leaves,
    read_row,
    repeat_last_row,
    set_identity,
    unflatten,
)

_GROUP_BYTES: Final = 2**21
"""Bytes that are gathered and mapped at once: enough to make a compiled call worthwhile, few enough for the CPU's
caches."""


@dataclass(frozen=True, eq=False)
class IndexedSource(Source):
    """The elements of an indexed plan."""

    plan: IndexedPlan
    compiled: bool
    """Whether all its maps can be traced."""
    draws: bool
    """Whether one of them draws random numbers."""
    identifies: bool
    """Whether a map, here or later in the plan, may need the identity of its element."""
    row_bytes: int
    """Of one row, before or after its maps, whichever is more."""
    description: str

    @property
    def cardinality(self) -> int:
        return self.plan.cardinality

    @property
    def random_access(self) -> bool:  # type: ignore[override]  # depends on its inputs
        return self.plan.shuffles_fully

    @property
    def num_shuffles(self) -> int:
        return self.plan.num_shuffles

    @cached_property
    def computer(self) -> _CompiledComputer | _PythonComputer:
        """Computes elements from rows."""
        return _CompiledComputer(self) if self.compiled else _PythonComputer(self.plan)

    def elements(self, pass_id: PassId) -> Elements:
        return _RowElements(self, pass_id)

    def __str__(self) -> str:
        return self.description


class _RowElements(Elements):
    """A state is a segment of the pass and a position in it."""

    def __init__(self, source: IndexedSource, pass_id: PassId) -> None:
        self._source, self._pass_id = source, pass_id
        self._segment = self._position = 0
        self._pass: PassRows | None = None
        self._group: _BatchGroup | None = None

    def __next__(self) -> Deferred:
        rows = self._pass or self._open_segment()
        while self._position == len(rows.batches):
            if self._source.plan.num_batches is not None or len(rows.batches) == 0:
                raise StopIteration
            self._segment, self._position = self._segment + 1, 0
            rows = self._open_segment()
        position = self._position
        self._position += 1
        computer = self._source.computer
        if isinstance(computer, _PythonComputer):
            return partial(computer.element, rows, position)
        if self._group is None or position >= self._group.last:
            self._group = _BatchGroup(computer, rows, position)
        return partial(self._group.element, position)

    def _open_segment(self) -> PassRows:
        identified = self._source.identifies or not self._source.compiled
        self._pass = self._source.plan.pass_rows(self._pass_id, self._segment, identified=identified)
        self._group = None
        return self._pass

    def get_state(self) -> State:
        return [self._segment, self._position]

    def set_state(self, state: State) -> None:
        self._segment, self._position = state
        self._pass = self._group = None

    def close(self) -> None:
        self._pass = self._group = None


class _CompiledComputer:
    """Many rows at once, through one compiled function."""

    def __init__(self, source: IndexedSource) -> None:
        plan = self.plan = source.plan
        self.draws = source.draws
        self._leaves = [as_read_only(leaf) for leaf in flatten(plan.arrays)]
        has_maps = bool(plan.element_maps or plan.batch_maps)
        self.function = HostFunction(vectorise(plan.element_maps, plan.batch_maps)) if has_maps else None
        batch_size = plan.batch.batch_size if plan.batch else 1
        in_a_group = max(1, _GROUP_BYTES // (source.row_bytes * batch_size))
        self.batches_per_call = 1 if plan.batch_maps else min(in_a_group, max(1, plan.num_batches or in_a_group))
        """How many batches are mapped by one call."""

    def gather(self, rows: NDArray[np.int32]) -> Nest:
        """These rows of all arrays."""
        columns = rows.reshape(len(rows), -1)
        gathered = [
            _gather(leaf, columns[:, table]) for leaf, table in zip(self._leaves, self.plan.tables, strict=True)
        ]
        return unflatten(self.plan.arrays, gathered)


class _BatchGroup:
    """Consecutive batches that are computed together, when the first of them is needed."""

    def __init__(self, computer: _CompiledComputer, rows: PassRows, first: int) -> None:
        self._computer, self._rows, self._first = computer, rows, first
        sizes = np.diff(rows.batches.offsets[first : first + computer.batches_per_call + 1])
        irregular = np.flatnonzero(sizes != sizes[0])
        self.last = first + (int(irregular[0]) if len(irregular) else len(sizes))
        self._batch_size = int(sizes[0])
        self._lock = threading.Lock()
        self._batches: Nest = None

    def element(self, position: int) -> Nest:
        """One of the batches; the row itself, where rows are not batched."""
        with self._lock:
            if self._batches is None:
                self._batches = self._compute()
        _set_identity(self._rows, position)
        if self._computer.plan.batch_maps:
            return self._batches
        index = position - self._first
        start = index * self._batch_size
        which: Any = slice(start, start + self._batch_size) if self._computer.plan.batch else (index, ...)
        return map_leaves(lambda leaf: None if leaf is None else leaf[which], self._batches)

    def _compute(self) -> Nest:
        computer, identities = self._computer, self._rows.identities
        offsets = self._rows.batches.offsets
        which = slice(offsets[self._first], offsets[self.last])
        numbers = self._rows.batches.rows[which]
        if computer.function is None:
            return computer.gather(numbers)
        identity = None
        if computer.draws:
            assert identities is not None, "maps that draw have them"
            identity = (identities.epochs[which], identities.positions[which])
        num_rows, full = len(numbers), computer.batches_per_call * self._batch_size
        if num_rows < full and not computer.plan.batch_maps:
            # Padded to one shape, so that one compiled function is enough. The padding is cut off below.
            numbers, identity = jax.tree.map(lambda rows: repeat_last_row(rows, full), (numbers, identity))
        result = computer.function(computer.gather(numbers), identity)
        if len(numbers) == num_rows:
            return result
        return map_leaves(lambda leaf: None if leaf is None else leaf[:num_rows], result)


class _PythonComputer:
    """One row at a time, through the functions as the user wrote them."""

    def __init__(self, plan: IndexedPlan) -> None:
        self._plan = plan
        self._leaves = [as_read_only(leaf) for leaf in flatten(plan.arrays)]

    def element(self, rows: PassRows, position: int) -> Nest:
        """One batch; the row itself, where rows are not batched."""
        first, last = rows.batches.offsets[position : position + 2]
        group = [partial(self._row, rows, index) for index in range(first, last)]
        if self._plan.batch is None:
            element = group[0]()
        else:
            element = self._map(self._plan.batch_maps, self._plan.batch.stack(group), rows, first)
        _set_identity(rows, position)
        return element

    def _row(self, rows: PassRows, index: int) -> Nest:
        numbers = rows.batches.rows[index].reshape(-1)
        gathered = [read_row(leaf, numbers[table]) for leaf, table in zip(self._leaves, self._plan.tables, strict=True)]
        return self._map(self._plan.element_maps, unflatten(self._plan.arrays, gathered), rows, index)

    def _map(self, maps: tuple[IndexedMap, ...], element: Nest, rows: PassRows, index: int) -> Nest:
        assert rows.identities is not None, "functions that run in Python may draw"
        epochs, positions = rows.identities.epochs[index], rows.identities.positions[index]
        for one in maps:
            set_identity(int(epochs[one.origin]), int(positions[one.origin]))
            with RandomDraws(one.seed):
                result = apply(one.function, element)
            element = as_arrays(result, one)
        return element


def _set_identity(rows: PassRows, position: int) -> None:
    """What comes after the plan identifies batch `position` by its first row."""
    if rows.identities is not None:
        start = rows.batches.offsets[position]
        set_identity(int(rows.identities.epochs[start, -1]), int(rows.identities.positions[start, -1]))


def _gather(leaf: Any, rows: NDArray[np.int32]) -> Any:
    if (
        isinstance(leaf, np.ndarray)
        and len(rows)
        and rows[-1] - rows[0] == len(rows) - 1
        and np.all(np.diff(rows) == 1)
    ):
        return leaf[rows[0] : rows[-1] + 1]  # a view: nothing is copied
    return leaf[rows]
