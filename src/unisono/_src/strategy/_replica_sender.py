"""Sends the values of a step to the replicas of a strategy."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding

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
class ReplicaSender:
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
        """Sends each replica its nest: one nest of PerReplica, or the nest itself if there is one replica in all."""
        if self.on_host:
            return regroup(nests, self.placement)
        return regroup(put_on_devices(nests, self.placement.local_replica_devices), self.placement)

    def send_rows(self, batch: Nest, slices: Sequence[slice]) -> Nest:
        """Sends each replica its slice of the rows of a batch; the slices have equally many rows."""
        leaves = flatten(batch)
        # In one call, and as one array each, which programs over all devices take as it is.
        arrays = iter(self.placement.place_rows([leaf for leaf in leaves if self._goes_to_devices(leaf)]))
        return unflatten(batch, [self._split_leaf(leaf, arrays, slices) for leaf in leaves])

    def send_group(self, batches: Sequence[Nest]) -> list[Nest] | None:
        """Sends several batches of equal shapes, whose rows are split evenly over the replicas, as one array for each
        leaf. None if some leaf stays on the host."""
        leaves = [flatten(batch) for batch in batches]
        if not all(isinstance(leaf, np.ndarray) and leaf.ndim and self._goes_to_devices(leaf) for leaf in leaves[0]):
            return None
        stacked = [np.stack(group) for group in zip(*leaves, strict=True)]
        if self.num_replicas == 1:
            sent = jax.device_put(stacked, self.placement.local_replica_devices[0])
        else:
            sent = self.placement.place_rows(stacked, row_dim=1)
        steps = _unstack(None if self.num_replicas == 1 else self.placement.sharded_rows)(sent)
        return [unflatten(batch, map(self._as_value, arrays)) for batch, arrays in zip(batches, steps, strict=True)]

    def _as_value(self, array: jax.Array) -> Any:
        if self.num_replicas == 1:
            return array
        return PerReplica.from_storage(Sharded(array, False, self.placement))

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


@functools.lru_cache(8)
def _unstack(layout: NamedSharding | None) -> Callable[[list[jax.Array]], list[list[jax.Array]]]:
    """The program that takes stacked batches apart; ``layout`` is that of each array, None for one device.

    One call for all batches: one for each of them takes 60 µs more for a step (H200, batches of 64 rows).
    """

    def unstack(arrays: list[jax.Array]) -> list[list[jax.Array]]:
        return [[array[number] for array in arrays] for number in range(len(arrays[0]))]

    return jax.jit(unstack, out_shardings=layout)
