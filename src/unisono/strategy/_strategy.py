"""What all strategies have in common: everything but the choice of devices."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Self

from unisono import context
from unisono.data import Dataset
from unisono.runtime import Placement, device_name
from unisono.strategy._distribute import distribute_dataset, distribute_from_function, distribute_values
from unisono.strategy._distributed_dataset import DistributedDataset
from unisono.strategy._input_context import InputContext, ValueContext
from unisono.strategy._input_options import InputOptions


class Strategy:
    """A set of devices that train in lockstep. Made by the subclasses, which only choose the devices.

    ```python
    strategy = unisono.MirroredStrategy()
    with strategy.scope():
        model = keras.Sequential([keras.layers.Dense(10)])
        model.compile("adam", "mse")
    model.fit(x, y, batch_size=256)     # 256 rows over all devices
    ```
    """

    def __init__(self, placement: Placement):
        self._placement = placement
        self._extended = StrategyExtended(placement)

    @property
    def placement(self) -> Placement:
        """Where variables and batches of this strategy live."""
        return self._placement

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas share a global batch."""
        return self._placement.num_replicas

    @property
    def extended(self) -> StrategyExtended:
        """tf.distribute's second level: the names of the devices."""
        return self._extended

    @property
    def cluster_resolver(self) -> None:
        """None: this strategy lives in one process."""
        return None

    @contextlib.contextmanager
    def scope(self) -> Iterator[Self]:
        """Models, variables, optimizers and metrics made inside belong to this strategy, and stay so.

        Re-entrant, per thread. Entering the scope of another strategy inside is an error.
        """
        with context.entered(self):
            yield self

    def experimental_distribute_dataset(
        self, dataset: Dataset, options: InputOptions | None = None
    ) -> DistributedDataset:
        """Splits every batch of `dataset`, a global batch, over the replicas.

        Of b rows, replica i gets the rows [i·c, (i+1)·c) with c = ceil(b / replicas). Nothing is padded or dropped:
        the last batch is split by the rows it has, and a replica for which none are left gets an array of 0 rows.

        >>> import unisono
        >>> strategy = unisono.MirroredStrategy(["cpu:0"])
        >>> for step in strategy.experimental_distribute_dataset(unisono.data.Dataset.range(5).batch(4)):
        ...     print(step)
        [0 1 2 3]
        [4]
        """
        return distribute_dataset(self._placement, dataset, options)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Dataset], options: InputOptions | None = None
    ) -> DistributedDataset:
        """Deals the elements of `dataset_fn(context)`, batches of one replica, to the replicas in turn.

        >>> import unisono
        >>> def batches(context):
        ...     rows = unisono.data.Dataset.range(8).shard(context.num_input_pipelines, context.input_pipeline_id)
        ...     return rows.batch(context.get_per_replica_batch_size(4))
        >>> strategy = unisono.MirroredStrategy(["cpu:0"])
        >>> [step.tolist() for step in strategy.distribute_datasets_from_function(batches)]
        [[0, 1, 2, 3], [4, 5, 6, 7]]
        """
        return distribute_from_function(self._placement, dataset_fn, options)

    def experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Dataset], options: InputOptions | None = None
    ) -> DistributedDataset:
        """The old name of :meth:`distribute_datasets_from_function`."""
        warnings.warn(
            "experimental_distribute_datasets_from_function is an old name: "
            "write strategy.distribute_datasets_from_function(dataset_fn).",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.distribute_datasets_from_function(dataset_fn, options)

    def experimental_distribute_values_from_function(self, value_fn: Callable[[ValueContext], Any]) -> Any:
        """`value_fn(context)` for each replica, as one PerReplica; with one replica the value itself.

        >>> import unisono
        >>> strategy = unisono.MirroredStrategy(["cpu:0"])
        >>> strategy.experimental_distribute_values_from_function(lambda context: context.replica_id_in_sync_group)
        Array(0, dtype=int32, weak_type=True)
        """
        return distribute_values(self._placement, value_fn)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._extended.worker_devices))})"


class StrategyExtended:
    """The devices of a strategy by name."""

    def __init__(self, placement: Placement):
        self._placement = placement

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices that compute, one per replica: ``("gpu:0", "gpu:1")``."""
        return tuple(device_name(device) for device in self._placement.devices)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that hold variables: all of them."""
        return self.worker_devices
