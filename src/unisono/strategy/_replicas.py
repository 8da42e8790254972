"""The replicas of a strategy as those who receive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax

from unisono.data import DatasetSpec, TensorSpec
from unisono.plans import Nest
from unisono.values import PerReplicaSpec, on_devices, regroup, stays_on_host


@dataclass(frozen=True)
class Replicas:
    """How many there are, and on which devices they want their values."""

    number: int
    devices: tuple[jax.Device, ...] | None
    """None: values stay on the host."""

    def give(self, nests: Sequence[Nest]) -> Nest:
        """Sends each replica its nest: one nest of PerReplica, or the nest itself if there is one replica."""
        return regroup(nests if self.devices is None else on_devices(nests, self.devices))

    def spec(self, leaf: TensorSpec | DatasetSpec | None) -> TensorSpec | DatasetSpec | PerReplicaSpec | None:
        """What a leaf looks like of which every replica gets such a one."""
        if not isinstance(leaf, TensorSpec):
            return leaf
        if self.devices is not None and not stays_on_host(leaf.dtype):
            # JAX has no 64 bits unless jax_enable_x64 is set.
            leaf = TensorSpec(leaf.shape, jax.dtypes.canonicalize_dtype(leaf.dtype))
        return leaf if self.number == 1 else PerReplicaSpec(*[leaf] * self.number)
