"""The replicas of a strategy as those who receive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from unisono._src.data.dataset import DatasetSpec, TensorSpec
from unisono._src.data.plans import Nest, flatten, map_leaves, unflatten
from unisono._src.devices import Placement
from unisono._src.replicas.values import (
    PerReplica,
    PerReplicaSpec,
    Separate,
    Sharded,
    Unsplit,
    can_be_on_device,
    is_host_only,
    put_on_devices,
    regroup,
)


@dataclass(frozen=True)
class Replicas:
    """Where they live, and whether they want their values there."""

    placement: Placement
    on_host: bool = False
    """Whether values stay on the host."""

    @property
    def number(self) -> int:
        """How many there are."""
        return self.placement.num_replicas

    @property
    def local(self) -> list[int]:
        """The numbers of those in this process."""
        return self.placement.local_replicas

    def give(self, nests: Sequence[Nest]) -> Nest:
        """Sends each replica its nest: one nest of PerReplica, or the nest itself if there is one replica."""
        if self.on_host:
            return regroup(nests, self.placement)
        return regroup(put_on_devices(nests, self.placement.local_devices), self.placement)

    def give_rows(self, batch: Nest, shares: Sequence[slice]) -> Nest:
        """Sends each replica its share of the rows of a batch, of which all have equally many."""
        leaves = flatten(batch)
        # In one call, and as one array each, which programs over all devices take as it is.
        moving = [leaf for leaf in leaves if self._moves(leaf)]
        arrays = iter(self.placement.place_rows(moving))
        return unflatten(batch, [self._rows(leaf, arrays, shares) for leaf in leaves])

    def give_together(self, batch: Nest, shares: Sequence[slice]) -> Nest:
        """Sends all rows of a batch to each device, since other processes, which have the same, could not be told
        which rows are whose."""
        num_rows = len(next(leaf for leaf in flatten(batch) if leaf is not None))
        sizes = tuple(len(range(*share.indices(num_rows))) for share in shares)

        def together(leaf: Any) -> PerReplica | None:
            if leaf is None or not self._moves(leaf):
                return self._rows(leaf, None, shares)
            copies = self.placement.place_replicated(np.asarray(leaf))
            return PerReplica.holding(Unsplit(copies, sizes, self.placement, is_batch=True))

        return map_leaves(together, batch)

    def spec(self, leaf: TensorSpec | DatasetSpec | None) -> TensorSpec | DatasetSpec | PerReplicaSpec | None:
        """What a leaf looks like of which every replica gets such a one."""
        if not isinstance(leaf, TensorSpec):
            return leaf
        if not self.on_host and not is_host_only(leaf.dtype):
            # JAX has no 64 bits unless jax_enable_x64 is set.
            leaf = TensorSpec(leaf.shape, jax.dtypes.canonicalize_dtype(leaf.dtype))
        return leaf if self.number == 1 else PerReplicaSpec(*[leaf] * self.number)

    def _rows(self, leaf: Any, arrays: Any, shares: Sequence[slice]) -> PerReplica | None:
        if leaf is None:
            return None
        if self._moves(leaf):
            return PerReplica.holding(Sharded(next(arrays), False, self.placement))
        return PerReplica.holding(Separate(tuple(leaf[shares[number]] for number in self.local), self.placement))

    def _moves(self, leaf: Any) -> bool:
        return not self.on_host and leaf is not None and can_be_on_device(leaf)
