"""`Strategy`: everything that strategies share; subclasses only choose the devices."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Self

from unisono._src.data.dataset import Dataset
from unisono._src.devices import Placement, use_user_cache
from unisono._src.processes import check_joined
from unisono._src.replicas import context
from unisono._src.strategy._distribute import distribute_dataset, distribute_from_function, distribute_values
from unisono._src.strategy._distributed_dataset import DistributedDataset
from unisono._src.strategy._explain import StateReport, explain
from unisono._src.strategy._extended import StrategyExtended
from unisono._src.strategy._input_context import InputContext, ValueContext
from unisono._src.strategy._options import InputOptions, RunOptions
from unisono._src.strategy._reduce import gather, local_results, reduce
from unisono._src.strategy._run import run


class Strategy:
    """A set of devices that train in lockstep. Create one of the subclasses, which choose the devices.

    ```python
    strategy = unisono.MirroredStrategy()
    with strategy.scope():
        model = keras.Sequential([keras.layers.Dense(10)])
        model.compile("adam", "mse")
    model.fit(x, y, batch_size=256)     # 256 rows over all devices
    ```
    """

    def __init__(self, placement: Placement, cluster_resolver: Any = None):
        if placement.spans_processes:
            check_joined()
        use_user_cache(placement.platform, spans_processes=placement.spans_processes)
        self._placement, self._resolver = placement, cluster_resolver
        self._extended = StrategyExtended(self, placement)
        context.expect_use(self)

    @property
    def placement(self) -> Placement:
        """The devices of this strategy, and how variables and batches are stored on them."""
        return self._placement

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas share a global batch. It is 1 where one replica processes the whole batch: in the step of
        `fit`, and in `run` on a batch that does not split evenly."""
        replica = context.current_replica()
        if replica is not None and replica.strategy is self:
            return replica.num_replicas
        return self._placement.num_replicas

    @property
    def extended(self) -> StrategyExtended:
        """tf.distribute's lower-level methods, and the names of the devices."""
        return self._extended

    @property
    def cluster_resolver(self) -> Any:
        """The resolver that found the cluster; None without a cluster."""
        return self._resolver

    @contextlib.contextmanager
    def scope(self) -> Iterator[Self]:
        """Models, variables, optimizers and metrics created inside belong to this strategy.

        The scope is re-entrant, and applies to the current thread. Entering the scope of another strategy inside it
        raises an error.

        >>> import keras, numpy as np, unisono
        >>> strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])
        >>> with strategy.scope():
        ...     model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones")])
        ...     model.compile("sgd", "mse")
        >>> model.predict(np.ones((3, 2), "float32"), verbose=0).tolist()  # anywhere: the model knows its strategy
        [[2.0], [2.0], [2.0]]
        """
        with context.enter_strategy(self):
            yield self

    def experimental_distribute_dataset(
        self, dataset: Dataset, options: InputOptions | None = None
    ) -> DistributedDataset:
        """Splits every batch of `dataset`, a global batch, over the replicas.

        For a batch of b rows, replica i gets the rows [i·c, (i+1)·c) with c = ceil(b / replicas). Nothing is padded or
        dropped: the last batch is split according to the rows it has, and a replica may get an array with 0 rows.

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
        """Assigns the elements of `dataset_fn(context)`, batches of one replica, to the replicas one after the other.

        >>> import unisono
        >>> def batches(context):
        ...     rows = unisono.data.Dataset.range(8).shard(context.num_input_pipelines, context.input_pipeline_id)
        ...     return rows.batch(context.get_per_replica_batch_size(4))
        >>> strategy = unisono.MirroredStrategy(["cpu:0"])
        >>> [step.tolist() for step in strategy.distribute_datasets_from_function(batches)]
        [[0, 1, 2, 3], [4, 5, 6, 7]]
        """
        return distribute_from_function(self._placement, dataset_fn, options)

    def experimental_distribute_values_from_function(self, value_fn: Callable[[ValueContext], Any]) -> Any:
        """`value_fn(context)` for each replica, as one PerReplica; with one replica the value itself.

        A worker calls `value_fn` for its own replicas. All workers have to call this method: they compare the shapes.

        >>> import unisono
        >>> strategy = unisono.MirroredStrategy(["cpu:0"])
        >>> strategy.experimental_distribute_values_from_function(lambda context: context.replica_id_in_sync_group)
        Array(0, dtype=int32, weak_type=True)
        """
        return distribute_values(self._placement, value_fn)

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: RunOptions | None = None) -> Any:
        """Calls `fn(*args, **kwargs)` on every replica. Each replica gets its own value of PerReplica arguments; all
        other arguments are the same everywhere. Returns a nest of PerReplica values, or with one replica the result of
        `fn` itself.

        Call it in a `unisono.function`: otherwise `fn` is traced again at every call.

        >>> import unisono
        >>> strategy = unisono.MirroredStrategy(["cpu:0"])
        >>> strategy.run(lambda x: x + 1, args=(1,))
        2

        Args:
            fn: the function of one replica: a forward pass, a gradient, an optimizer's `apply_gradients`.
            args: its arguments.
            kwargs: its keyword arguments.
            options: accepted, without effect.
        """
        del options
        return run(self, fn, args, kwargs or {})

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """Returns the sum or mean of PerReplica values over the replicas: one array, the same everywhere.

        >>> import unisono
        >>> strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])
        >>> batches = strategy.experimental_distribute_dataset(unisono.data.Dataset.range(5).batch(5))
        >>> [int(strategy.reduce("sum", batch, axis=0)) for batch in batches]  # 3 rows here, 2 there
        [10]

        Args:
            reduce_op: `ReduceOp.SUM`, `ReduceOp.MEAN` or their names.
            value: a result of `run`, or a nest of results.
            axis: None combines the values of the replicas as they are. A number also reduces each value along that
                dimension; a mean is then taken over all elements, however many each replica has.
        """
        return reduce(self._placement, reduce_op, value, axis)

    def gather(self, value: Any, axis: int) -> Any:
        """Concatenates the values of all replicas along ``axis``; their sizes may differ along this axis.

        >>> import unisono
        >>> strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])
        >>> batches = strategy.experimental_distribute_dataset(unisono.data.Dataset.range(5).batch(5))
        >>> [strategy.gather(batch, axis=0).tolist() for batch in batches]
        [[0, 1, 2, 3, 4]]
        """
        return gather(self._placement, value, axis)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Returns the value of each replica of this process as a tuple. Other values become a tuple with one element.

        >>> import unisono
        >>> unisono.MirroredStrategy(["cpu:0"]).experimental_local_results(3)
        (3,)
        """
        return local_results(value, len(self._placement.local_replicas))

    def explain(self, model: Any, print_fn: Callable[[str], Any] = print) -> StateReport:
        """Prints where each variable of `model` and of its optimizer is stored and why, how many bytes each device
        stores, how many bytes a training step moves between devices, and how many bytes of activations rematerialized
        layers keep. Returns the same as an object.

        Args:
            model: a built model of this strategy. The optimizer's variables are listed if they exist: after
                `model.optimizer.build(model.trainable_variables)`, or after the first step.
            print_fn: called with the text.
        """
        report = explain(self, model)
        print_fn(str(report))
        return report

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # a copy of a variable belongs to the same strategy

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._extended.worker_devices))})"
