"""The arguments of functions that make input: which worker or replica they run for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InputContext:
    """The argument of a function given to `distribute_datasets_from_function`.

    >>> InputContext(num_replicas_in_sync=4).get_per_replica_batch_size(64)
    16
    """

    num_input_pipelines: int = 1
    """How many processes call the function: shard the data into so many parts …"""
    input_pipeline_id: int = 0
    """… and take this one."""
    num_replicas_in_sync: int = 1

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The rows of each replica. The global batch must divide evenly."""
        per_replica, left = divmod(global_batch_size, self.num_replicas_in_sync)
        if left:
            smaller = max(per_replica, 1) * self.num_replicas_in_sync
            raise ValueError(
                f"get_per_replica_batch_size: a global_batch_size of {global_batch_size} is not divisible by "
                f"{self.num_replicas_in_sync} replicas: {left} rows are left. "
                f"Use a multiple of {self.num_replicas_in_sync}, such as {smaller}."
            )
        return per_replica


@dataclass(frozen=True)
class ValueContext:
    """The argument of a function given to `experimental_distribute_values_from_function`."""

    replica_id_in_sync_group: int = 0
    num_replicas_in_sync: int = 1
