"""Training with parameter servers, which is refused: every process trains, and all in lockstep."""

from __future__ import annotations

from typing import Final

from unisono.tf._unsupported import unsupported_class, unsupported_function

INSTEAD: Final = (
    "training with parameter servers is not available, since Keras 3 has none and XLA's programs run in lockstep; use "
    "tf.distribute.MultiWorkerMirroredStrategy() in every process, started with `unisono run -n 4 script.py` or a "
    "TF_CONFIG of workers only."
)
SHARDING: Final = (
    "variables are not split over parameter servers; leave the partitioner out, and use "
    "tf.distribute.MultiWorkerMirroredStrategy(), which keeps all variables on each device."
)
RPC: Final = (
    "calls between processes are not there; processes that train together exchange values with strategy.reduce and "
    "strategy.gather."
)

ParameterServerStrategy = unsupported_class("tf.distribute.ParameterServerStrategy", INSTEAD)
Server = unsupported_class(
    "tf.distribute.Server",
    "no servers are started inside of a script; `unisono run -n 4 script.py` starts and watches the workers, and "
    "tf.distribute.MultiWorkerMirroredStrategy() in each of them joins the others.",
)
ClusterCoordinator = unsupported_class("tf.distribute.coordinator.ClusterCoordinator", INSTEAD)
RemoteValue = unsupported_class("tf.distribute.coordinator.RemoteValue", INSTEAD)
PerWorkerValue = unsupported_class("tf.distribute.coordinator.PerWorkerValue", INSTEAD)
experimental_get_current_worker_index = unsupported_function(
    "tf.distribute.coordinator.experimental_get_current_worker_index", INSTEAD
)

_PARTITIONERS: Final = "tf.distribute.experimental.partitioners"
Partitioner = unsupported_class(f"{_PARTITIONERS}.Partitioner", SHARDING)
FixedShardsPartitioner = unsupported_class(f"{_PARTITIONERS}.FixedShardsPartitioner", SHARDING)
MinSizePartitioner = unsupported_class(f"{_PARTITIONERS}.MinSizePartitioner", SHARDING)
MaxSizePartitioner = unsupported_class(f"{_PARTITIONERS}.MaxSizePartitioner", SHARDING)

RpcServer = unsupported_class("tf.distribute.experimental.rpc.Server", RPC)
RpcClient = unsupported_class("tf.distribute.experimental.rpc.Client", RPC)
