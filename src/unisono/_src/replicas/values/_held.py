"""The three ways in which a value for each replica is held."""

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
    """Anything, one for each replica.

    Attributes:
        placement: where the replicas live, if that is known.
    """

    values: tuple[Any, ...]
    placement: Placement | None = None


@dataclass(frozen=True, eq=False)
class Sharded:
    """Values of equal shape as one array that is cut along its rows: what a compiled program takes and gives.

    Attributes:
        array: the values of all replicas, one after the other.
        scalars: whether a value is a number, and has no rows: ``array`` then has a row for each.
        placement: where the replicas live.
        total: the sum of the values, where the program that makes them has summed them already; else None.
    """

    array: Any
    scalars: bool
    placement: Placement
    total: Any = None

    @property
    def number(self) -> int:
        """How many replicas there are."""
        return self.placement.num_replicas

    @property
    def values(self) -> tuple[Any, ...]:
        """The value of each replica: what its device holds, not a copy."""
        if isinstance(self.array, jax.core.Tracer):
            parts = jnp.split(self.array, self.number)
        else:
            shards = sorted(self.array.addressable_shards, key=lambda shard: shard.index[0].start or 0)
            parts = [shard.data for shard in shards]
        return tuple(part[0] for part in parts) if self.scalars else tuple(parts)

    @property
    def stacked(self) -> Any:
        """The values along a new first dimension."""
        if self.scalars:
            return self.array
        return self.array.reshape(self.number, self.array.shape[0] // self.number, *self.array.shape[1:])


@dataclass(frozen=True, eq=False)
class Unsplit:
    """One value that was made for all replicas at once, since their batches were of different sizes.

    Attributes:
        value: the value; the same on every device.
        shares: how many rows of the batch each replica has.
        placement: where the replicas live.
        is_batch: whether this is such a batch, and not what was made of one.
    """

    value: Any
    shares: tuple[int, ...]
    placement: Placement
    is_batch: bool

    @property
    def values(self) -> tuple[Any, ...]:
        """To each its rows, where the value has as many as the batch. Else all of it to the first, and zeros to the
        others: so their sum is the value."""
        if self.has_rows:
            ends = np.cumsum((0, *self.shares))
            every = [self.value[begin:end] for begin, end in pairwise(ends)]
        else:
            every = [self.value, *[jnp.zeros_like(self.value)] * (len(self.shares) - 1)]
        if not self.placement.spans_processes:
            return tuple(every)
        return tuple(every[number] for number in self.placement.local_replicas)

    @property
    def has_rows(self) -> bool:
        """Whether the value has a row for every row of the batch."""
        shape = np.shape(self.value)
        return self.is_batch or (bool(shape) and shape[0] == sum(self.shares))


Storage = Separate | Sharded | Unsplit
