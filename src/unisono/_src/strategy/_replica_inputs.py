"""Sends the values of a step to the replicas of a strategy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from unisono._src.data.dataset import DatasetSpec, TensorSpec
from unisono._src.data.plans import CompositeLeaf, Nest, flatten, map_leaves, unflatten
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
class ReplicaInputs:
    """The replicas that receive values, and whether the values go to their devices or stay on the host."""

    placement: Placement
    on_host: bool = False

    @property
    def num_replicas(self) -> int:
        return self.placement.num_replicas

    @property
    def local_replicas(self) -> list[int]:
        """The numbers of the replicas of this process."""
        return self.placement.local_replicas

    def send(self, nests: Sequence[Nest]) -> Nest:
        """Sends each replica its nest: one nest of PerReplica, or the nest itself if there is one replica."""
        if self.on_host:
            return regroup(nests, self.placement)
        return regroup(put_on_devices(nests, self.placement.local_replica_devices), self.placement)

    def send_rows(self, batch: Nest, slices: Sequence[slice]) -> Nest:
        """Sends each replica its slice of the rows of a batch; the slices have equally many rows."""
        leaves = flatten(batch)
        # In one call, and as one array each, which programs over all devices take as it is.
        arrays = iter(self.placement.place_rows([leaf for leaf in leaves if self._goes_to_devices(leaf)]))
        return unflatten(batch, [self._split_leaf(leaf, arrays, slices) for leaf in leaves])

    def send_unsplit(self, batch: Nest, slices: Sequence[slice]) -> Nest:
        """Sends all rows of a batch to every device: shards of unequal size over several processes are not one array
        for JAX."""
        num_rows = len(next(leaf for leaf in flatten(batch) if leaf is not None))
        row_counts = tuple(len(range(*rows.indices(num_rows))) for rows in slices)

        def send_leaf(leaf: Any) -> PerReplica | None:
            if not self._goes_to_devices(leaf):
                return self._split_leaf(leaf, None, slices)
            copies = self.placement.place_replicated(np.asarray(leaf))
            return PerReplica.from_storage(Unsplit(copies, row_counts, self.placement, is_batch=True))

        return map_leaves(send_leaf, batch)

    def spec(self, leaf: TensorSpec | DatasetSpec | None) -> TensorSpec | DatasetSpec | PerReplicaSpec | None:
        """The spec of a leaf of a step in which every replica gets a value of the spec ``leaf``."""
        if not isinstance(leaf, TensorSpec):
            return leaf
        if not self.on_host and not is_host_only(leaf.dtype):
            # JAX has no 64-bit types unless jax_enable_x64 is set.
            leaf = TensorSpec(leaf.shape, jax.dtypes.canonicalize_dtype(leaf.dtype))
        return leaf if self.num_replicas == 1 else PerReplicaSpec(*[leaf] * self.num_replicas)

    def _split_leaf(self, leaf: Any, arrays: Any, slices: Sequence[slice]) -> PerReplica | None:
        if leaf is None:
            return None
        if self._goes_to_devices(leaf):
            return PerReplica.from_storage(Sharded(next(arrays), False, self.placement))
        take = leaf.take_rows if isinstance(leaf, CompositeLeaf) else leaf.__getitem__
        local = tuple(take(slices[number]) for number in self.local_replicas)
        return PerReplica.from_storage(Separate(local, self.placement))

    def _goes_to_devices(self, leaf: Any) -> bool:
        return not self.on_host and leaf is not None and can_be_on_device(leaf)
