"""The strategies for one device, for the devices of one machine, and for several workers: they choose the devices."""

from __future__ import annotations

import os
from collections.abc import Sequence

import jax

from unisono._src.core import read_environment, warn_user
from unisono._src.devices import Placement, all_devices, default_devices, resolve_devices
from unisono._src.strategy._communication import CommunicationOptions, check_cross_device_ops
from unisono._src.strategy._join_cluster import ignore_cluster, join_cluster
from unisono._src.strategy._sharded_strategies import fully_sharded
from unisono._src.strategy._strategy import Strategy
from unisono_launch.cluster import ClusterResolver, LaunchedClusterResolver, detect


class OneDeviceStrategy(Strategy):
    """Everything on one device: for debugging, and for code that must run with and without several devices.

    ```python
    strategy = unisono.OneDeviceStrategy("gpu:0")
    ```
    """

    def __init__(self, device: str | jax.Device):
        super().__init__(Placement.over(resolve_devices([device])))


class MirroredStrategy(Strategy):
    """One replica on each device of this machine; weights are kept equal on all of them.

    ```python
    unisono.MirroredStrategy()                      # all GPUs, otherwise all TPUs, otherwise all CPU devices
    unisono.MirroredStrategy(["gpu:0", "gpu:1"])
    unisono.MirroredStrategy(["cpu:0", "cpu:1"])    # two replicas on one CPU, for testing
    ```

    >>> import keras, numpy as np, unisono
    >>> strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])
    >>> with strategy.scope():
    ...     model = keras.Sequential([keras.layers.Dense(1)])
    ...     model.compile("sgd", "mse")
    >>> history = model.fit(np.ones((9, 2)), np.ones(9), batch_size=4, verbose=0)  # batches of 4, 4 and 1 rows
    >>> strategy.num_replicas_in_sync, int(model.optimizer.iterations)
    (2, 3)

    With `unisono run --sharded` or `UNISONO_STRATEGY=sharded`, it divides weights and optimizer state among the devices
    like `FullyShardedStrategy`, so you do not have to change a script for a model that is larger than a device.

    Args:
        devices: names ("gpu:0", "/gpu:0", "/device:GPU:0") or JAX devices; None or an empty list means all.
        cross_device_ops: accepted for compatibility with tf.distribute, without effect: XLA chooses how to sum.
    """

    def __init__(self, devices: Sequence[str | jax.Device] | None = None, cross_device_ops: object = None):
        check_cross_device_ops(cross_device_ops)
        _warn_if_one_of_several_workers()
        if isinstance(devices, Sequence) and not devices:
            devices = None
        found = default_devices() if devices is None else resolve_devices(devices)
        super().__init__(mirrored_or_sharded(found))


def _warn_if_one_of_several_workers() -> None:
    """Only for workers of `unisono run`: a TF_CONFIG may also be that of an evaluator, which trains alone."""
    if not LaunchedClusterResolver._look(os.environ)[0]:
        return
    found = LaunchedClusterResolver().membership()
    if found.num_processes > 1 and not ignore_cluster.current:
        warn_user(
            f"MirroredStrategy uses the devices of one process, and `unisono run` has started {found.num_processes}: "
            "each of them trains its own model. Use MultiWorkerMirroredStrategy() to train one model on all of "
            "them, or start one process (without -n)."
        )


class CentralStorageStrategy(Strategy):
    """One replica on each compute device. In tf.distribute, this strategy keeps its variables on one device.

    Here every device has a copy of the variables, as with MirroredStrategy: fetching them in every step would take
    longer than storing them, and the results are the same.

    Args:
        compute_devices: names or JAX devices; None means all.
        parameter_device: accepted, without effect.
    """

    def __init__(self, compute_devices: Sequence[str | jax.Device] | None = None, parameter_device: object = None):
        del parameter_device
        devices = default_devices() if compute_devices is None else resolve_devices(compute_devices)
        super().__init__(Placement.over(devices))


class MultiWorkerMirroredStrategy(Strategy):
    """One replica on each device of every worker; weights are kept equal on all of them.

    Every worker runs the same script, and joins its peers when it creates the strategy. Do this before anything else
    uses JAX.

    ```python
    strategy = unisono.MultiWorkerMirroredStrategy()   # the cluster from TF_CONFIG, SLURM, `unisono run`, ...
    with strategy.scope():
        model = keras.Sequential([keras.layers.Dense(10)])
        model.compile("adam", "mse")
    model.fit(dataset)                                 # global batches, whatever the number of workers
    ```

    Args:
        cluster_resolver: the cluster; None detects it from the environment. Without a cluster, there is one worker.
        communication_options: `timeout_seconds` sets how long to wait for workers that have not started yet.
    """

    def __init__(
        self,
        cluster_resolver: ClusterResolver | None = None,
        communication_options: CommunicationOptions | None = None,
    ):
        options = communication_options or CommunicationOptions()
        resolver = cluster_resolver or detect(os.environ)
        join_cluster(resolver, options.timeout_seconds)
        super().__init__(mirrored_or_sharded(all_devices()), resolver)


def mirrored_or_sharded(devices: list[jax.Device]) -> Placement:
    """A replica on each of ``devices``; their state is what ``UNISONO_STRATEGY`` says, copied to all or divided."""
    strategy = read_environment().strategy
    if strategy == "mirrored":
        return Placement.over(devices)
    return fully_sharded(devices, shard="optimizer" if strategy == "sharded-optimizer" else "all")
