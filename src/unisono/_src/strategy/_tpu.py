"""`TPUStrategy`: one replica on each TPU core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unisono._src.strategy._join_cluster import join_cluster
from unisono._src.strategy._strategies import mirrored_or_sharded
from unisono._src.strategy._strategy import Strategy
from unisono._src.strategy._tpu_cluster_resolver import TPUClusterResolver

NO_ASSIGNMENT = """experimental_device_assignment: a replica is one TPU core here, in JAX's order; a model that is split
over several cores is not supported. Leave the argument out."""

NO_SPLITTING = """{method}: a replica is one TPU core here, the logical device 0; {asked} is not supported.
Inside JAX code, jax.lax.with_sharding_constraint splits an array over devices."""


class TPUStrategy(Strategy):
    """One replica on each TPU core, of all machines of a pod; weights are kept equal on all of them.

    ```python
    resolver = unisono.cluster_resolver.TPUClusterResolver.connect()
    strategy = unisono.TPUStrategy(resolver)
    ```

    Without a TPU that is a ValueError, "no TPU: …"; with `UNISONO_FAKE_TPU=8` 8 CPU devices act as TPU cores.

    Args:
        tpu_cluster_resolver: finds the TPUs; None makes one.
        experimental_device_assignment: must be None.
        experimental_spmd_xla_partitioning: accepted, without effect.
    """

    def __init__(
        self,
        tpu_cluster_resolver: TPUClusterResolver | None = None,
        experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ):
        del experimental_spmd_xla_partitioning
        if experimental_device_assignment is not None:
            raise NotImplementedError(NO_ASSIGNMENT)
        resolver = tpu_cluster_resolver or TPUClusterResolver()
        join_cluster(resolver)
        super().__init__(mirrored_or_sharded(resolver.devices()), resolver)

    def experimental_assign_to_logical_device(self, tensor: Any, logical_device_id: int) -> Any:
        """The tensor itself: a replica has one logical device, and that is 0."""
        if logical_device_id != 0:
            asked = f"logical device {logical_device_id}"
            raise NotImplementedError(NO_SPLITTING.format(method="experimental_assign_to_logical_device", asked=asked))
        return tensor

    def experimental_split_to_logical_devices(self, tensor: Any, partition_dimensions: Sequence[int]) -> Any:
        """The tensor itself, if it is to be split into one part."""
        if any(parts != 1 for parts in partition_dimensions):
            asked = f"a split into {list(partition_dimensions)}"
            raise NotImplementedError(NO_SPLITTING.format(method="experimental_split_to_logical_devices", asked=asked))
        return tensor

    def experimental_replicate_to_logical_devices(self, tensor: Any) -> Any:
        """The tensor itself: it is on all logical devices of its replica, of which there is one."""
        return tensor
