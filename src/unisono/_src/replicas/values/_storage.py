"""The three ways in which a value per replica is stored: one array each, one sharded array, one unsplit array."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono._src.devices import Placement


@dataclass(frozen=True, eq=False)
class Separate:
    """Any object for each replica.

    Attributes:
        placement: the devices of the replicas, if they are known.
    """

    values: tuple[Any, ...]
    placement: Placement | None = None


@dataclass(frozen=True, eq=False)
class Sharded:
    """Values of equal shape as one array that is sharded along its rows: what a compiled program takes and returns.

    Attributes:
        array: the values of all replicas, one after the other.
        is_scalar: whether the value of a replica is a number, without rows: ``array`` then has one row for each.
        placement: the devices of the replicas.
        sum: the sum of the values, where the program that made them has summed them already; else None.
    """

    array: Any
    is_scalar: bool
    placement: Placement
    sum: Any = None

    @property
    def num_replicas(self) -> int:
        return self.placement.num_replicas

    @property
    def values(self) -> tuple[Any, ...]:
        """The value of each replica: the shard on its device, not a copy."""
        if isinstance(self.array, jax.core.Tracer):
            parts = tuple(jnp.split(self.array, self.num_replicas))
        else:
            parts = self.placement.local_shards(self.array)
        return tuple(part[0] for part in parts) if self.is_scalar else parts

    @property
    def stacked(self) -> Any:
        """The values along a new first dimension."""
        if self.is_scalar:
            return self.array
        num_rows = self.array.shape[0] // self.num_replicas
        return self.array.reshape(self.num_replicas, num_rows, *self.array.shape[1:])


@dataclass(frozen=True, eq=False)
class Unsplit:
    """One value that was computed for all replicas at once, since their batches have different numbers of rows.

    Attributes:
        value: the value; the same on every device.
        row_counts: how many rows of the batch each replica has.
        placement: the devices of the replicas.
        is_batch: whether this is such a batch, rather than a result computed from one.
    """

    value: Any
    row_counts: tuple[int, ...]
    placement: Placement
    is_batch: bool

    @property
    def values(self) -> tuple[Any, ...]:
        """The value of each replica of this process."""
        every = self.all_values
        if not self.placement.spans_processes:
            return every
        return tuple(every[number] for number in self.placement.local_replicas)

    @property
    def all_values(self) -> tuple[Any, ...]:
        """For each replica of all processes its rows, if the value has as many as the batch. Otherwise the whole value
        for the first replica and zeros for the rest, so that their sum is the value."""
        if self.has_rows:
            ends = np.cumsum((0, *self.row_counts))
            return tuple(self.value[begin:end] for begin, end in pairwise(ends))
        return (self.value, *[jnp.zeros_like(self.value)] * (len(self.row_counts) - 1))

    @property
    def has_rows(self) -> bool:
        """Whether the value has a row for every row of the batch."""
        shape = np.shape(self.value)
        return self.is_batch or (bool(shape) and shape[0] == sum(self.row_counts))


Storage = Separate | Sharded | Unsplit
