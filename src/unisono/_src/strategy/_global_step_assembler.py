"""Steps of which every process reads its own part: they continue while any process has rows, and end together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from unisono._src.data.plans import CompositeLeaf, Nest, flatten, map_leaves, unflatten
from unisono._src.devices import Placement
from unisono._src.processes import all_gather_host, processes
from unisono._src.replicas.values import (
    PerReplica,
    Separate,
    Unsplit,
    as_program_input,
    is_host_only,
)
from unisono._src.strategy._host_rows import gather_host_rows

NO_SHAPE = """{name} has no data at all, and the shapes of its elements are not known without one: {spec}.
Give every worker at least one element."""


class GlobalStepAssembler:
    """Combines what each process has read into steps of all processes.

    All processes have to ask for every step, in the thread that trains: collectives in another order than those of the
    other processes would wait forever.

    Args:
        placement: the devices of all processes.
        element_spec: gives the spec of one element; only called by a process that has none.
    """

    def __init__(self, placement: Placement, element_spec: Callable[[], Nest]) -> None:
        self._placement, self._element_spec = placement, element_spec
        self._empty: Nest = None

    def combine(self, local: Nest) -> Nest | None:
        """The next step of all processes. ``local`` has a value for each replica of this process, or is None at the
        end of this process's data. Returns None when all processes are at their end. Text stays on the host."""
        has_data, row_counts = self._gather_row_counts(local)
        if not has_data.any():
            return None
        if has_data.all() and (row_counts == row_counts[0, 0]).all():
            return map_leaves(self._as_sharded, local)
        batch = self._gather_rows(local, row_counts.sum(axis=1))
        per_replica = tuple(int(count) for count in row_counts.reshape(-1))
        return map_leaves(lambda leaf: None if leaf is None else self._as_unsplit(leaf, per_replica), batch)

    def combine_as_batch(self, local: Nest) -> Nest | None:
        """The same as one batch of all rows, on the host of every process."""
        has_data, row_counts = self._gather_row_counts(local)
        return self._gather_rows(local, row_counts.sum(axis=1)) if has_data.any() else None

    def _gather_row_counts(self, local: Nest) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """For each process, whether it has data, and how many rows each of its replicas has."""
        gathered = all_gather_host(np.array([local is not None, *self._row_counts(local)], np.int64))
        if local is not None:
            self._empty = map_leaves(_empty_like, local)
        return gathered[:, 0], gathered[:, 1:]

    def _row_counts(self, local: Nest) -> list[int]:
        first = next((leaf for leaf in flatten(local) if leaf is not None), None) if local is not None else None
        if first is None:
            return [0] * len(self._placement.local_replicas)
        return [np.shape(value)[0] if np.ndim(value) else 1 for value in first.values]

    def _as_sharded(self, leaf: Any) -> Any:
        if leaf is None or all(isinstance(value, np.ndarray) and is_host_only(value.dtype) for value in leaf.values):
            return leaf
        return PerReplica.from_storage(as_program_input(leaf, self._placement))

    def _as_unsplit(self, leaf: Any, row_counts: tuple[int, ...]) -> PerReplica:
        if is_host_only(leaf.dtype):
            parts = np.split(leaf, np.cumsum(row_counts)[:-1])
            local = tuple(parts[number] for number in self._placement.local_replicas)
            return PerReplica.from_storage(Separate(local, self._placement))
        copies = self._placement.place_replicated(leaf)
        return PerReplica.from_storage(Unsplit(copies, row_counts, self._placement, is_batch=True))

    def _gather_rows(self, local: Nest, counts: np.ndarray[Any, Any]) -> Nest:
        """All rows of all processes, in the order of the replicas, on the host of each process."""
        if local is None and self._empty is None:
            self._empty = self._empty_from_spec()
        own = self._empty if local is None else map_leaves(_concatenate_rows, local)
        every = [None if leaf is None else gather_host_rows(leaf, counts.tolist()) for leaf in flatten(own)]
        return unflatten(own, every)

    def _empty_from_spec(self) -> Nest:
        spec = self._element_spec()

        def make_empty(leaf: Any) -> Any:
            if leaf is None:
                return None
            if None in leaf.shape[1:]:
                me = processes()
                raise ValueError(NO_SHAPE.format(name=me.names[me.index], spec=spec))
            dtype = leaf.dtype if is_host_only(leaf.dtype) else jax.dtypes.canonicalize_dtype(leaf.dtype)
            return np.zeros((0, *leaf.shape[1:]), dtype)

        return map_leaves(make_empty, spec)


def _concatenate_rows(leaf: Any) -> Any:
    if leaf is None:
        return None
    return np.concatenate([np.atleast_1d(np.asarray(value)) for value in leaf.values])


def _empty_like(leaf: Any) -> Any:
    """No rows, in the shape and dtype of the first value, which is not copied from its device."""
    if leaf is None:
        return None
    first = leaf.values[0]
    if isinstance(first, CompositeLeaf):
        return np.zeros(0, object)
    return np.zeros((0, *np.shape(first)[1:]), first.dtype)
