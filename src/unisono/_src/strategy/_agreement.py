"""Steps of which every process has its own part: all go on while one of them has rows, and end together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from unisono._src.data.plans import Nest, flatten, map_leaves, unflatten
from unisono._src.devices import Placement
from unisono._src.processes import all_gather_host, processes
from unisono._src.replicas.values import PerReplica, Separate, Unsplit, as_program_input

NO_SHAPE = """{name} has no data at all, and the shapes of its elements are not known without one: {spec}.
Give every worker at least one element."""


class Agreement:
    """What the processes say to each other before each step.

    It is asked in the thread that trains, and before every step by all of them: collectives in another order than
    those of the other processes would wait for ever.

    Args:
        placement: the devices of all.
        element_spec: gives the shapes of one element; only asked by a process that has none.
    """

    def __init__(self, placement: Placement, element_spec: Callable[[], Nest]) -> None:
        self._placement, self._element_spec = placement, element_spec
        self._empty: Nest = None

    def step(self, local: Nest) -> Nest | None:
        """The step of all, out of what this process has: a nest with a value for each of its replicas, or None at its
        end. None when all have come to theirs."""
        has_data, rows = self._counted(local)
        if not has_data.any():
            return None
        if has_data.all() and (rows == rows[0, 0]).all():
            return map_leaves(self._joined, local)
        whole = self._whole(local, rows.sum(axis=1))
        shares = tuple(int(share) for share in rows.reshape(-1))
        return map_leaves(lambda leaf: None if leaf is None else self._together(leaf, shares), whole)

    def batch(self, local: Nest) -> Nest | None:
        """The same as one batch of all rows, on the host of every process."""
        has_data, rows = self._counted(local)
        return self._whole(local, rows.sum(axis=1)) if has_data.any() else None

    def _counted(self, local: Nest) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Of each process, whether it has data, and how many rows each of its replicas has."""
        every = all_gather_host(np.array([local is not None, *self._rows(local)], np.int64))
        if local is not None:
            self._empty = map_leaves(_without_rows, local)
        return every[:, 0], every[:, 1:]

    def _rows(self, local: Nest) -> list[int]:
        number = len(self._placement.local_devices)
        first = next((leaf for leaf in flatten(local) if leaf is not None), None) if local is not None else None
        if first is None:
            return [0] * number
        return [np.shape(value)[0] if np.ndim(value) else 1 for value in _values(first)]

    def _joined(self, leaf: Any) -> Any:
        return (
            None
            if leaf is None
            else PerReplica.holding(as_program_input(_each(leaf, self._placement), self._placement))
        )

    def _together(self, leaf: Any, shares: tuple[int, ...]) -> PerReplica:
        return PerReplica.holding(
            Unsplit(self._placement.place_replicated(leaf), shares, self._placement, is_batch=True)
        )

    def _whole(self, local: Nest, counts: np.ndarray[Any, Any]) -> Nest:
        """All rows of all processes, in the order of the replicas, on each of them."""
        if local is None and self._empty is None:
            self._empty = self._empty_from_spec()
        own = self._empty if local is None else map_leaves(_rows_of, local)
        leaves = [None if leaf is None else self._everyones(leaf, counts) for leaf in flatten(own)]
        return unflatten(own, leaves)

    def _everyones(self, leaf: Any, counts: np.ndarray[Any, Any]) -> Any:
        padded = np.zeros((int(counts.max()), *leaf.shape[1:]), leaf.dtype)
        padded[: len(leaf)] = leaf
        every = all_gather_host(padded)
        return np.concatenate([part[:count] for part, count in zip(every, counts, strict=True)])

    def _empty_from_spec(self) -> Nest:
        spec = self._element_spec()

        def empty(leaf: Any) -> Any:
            if leaf is None:
                return None
            if None in leaf.shape[1:]:
                me = processes()
                raise ValueError(NO_SHAPE.format(name=me.names[me.index], spec=spec))
            return np.zeros((0, *leaf.shape[1:]), jax.dtypes.canonicalize_dtype(leaf.dtype))

        return map_leaves(empty, spec)


def _values(leaf: Any) -> tuple[Any, ...]:
    return leaf.values if isinstance(leaf, PerReplica) else (leaf,)


def _each(leaf: Any, placement: Placement) -> PerReplica:
    return leaf if isinstance(leaf, PerReplica) else PerReplica.holding(Separate((leaf,), placement))


def _rows_of(leaf: Any) -> Any:
    if leaf is None:
        return None
    return np.concatenate([np.atleast_1d(np.asarray(value)) for value in _values(leaf)])


def _without_rows(leaf: Any) -> Any:
    return None if leaf is None else _rows_of(leaf)[:0]
