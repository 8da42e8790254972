"""Names of parameter-server training, which is not supported: every process trains, all in lockstep."""

from __future__ import annotations

from typing import Final

from unisono.tf._unsupported import unsupported_class, unsupported_function

_NO_SERVERS: Final = (
    "training with parameter servers is not supported: Keras 3 has none, and XLA's programs run in lockstep; use "
    "tf.distribute.MultiWorkerMirroredStrategy() in every process, started with `unisono run -n 4 script.py` or a "
    "TF_CONFIG of workers only."
)
_NO_PARTITIONERS: Final = (
    "variables are not split over parameter servers; leave out the partitioner, and use "
    "tf.distribute.MultiWorkerMirroredStrategy(), which keeps all variables on each device."
)
_NO_RPC: Final = (
    "remote procedure calls are not supported; processes that train together exchange values with strategy.reduce and "
    "strategy.gather."
)

ParameterServerStrategy = unsupported_class("tf.distribute.ParameterServerStrategy", _NO_SERVERS)
Server = unsupported_class(
    "tf.distribute.Server",
    "a script starts no servers; `unisono run -n 4 script.py` starts and supervises the workers, and "
    "tf.distribute.MultiWorkerMirroredStrategy() in each of them connects them.",
)
ClusterCoordinator = unsupported_class("tf.distribute.coordinator.ClusterCoordinator", _NO_SERVERS)
RemoteValue = unsupported_class("tf.distribute.coordinator.RemoteValue", _NO_SERVERS)
PerWorkerValue = unsupported_class("tf.distribute.coordinator.PerWorkerValue", _NO_SERVERS)
experimental_get_current_worker_index = unsupported_function(
    "tf.distribute.coordinator.experimental_get_current_worker_index", _NO_SERVERS
)

_PARTITIONERS: Final = "tf.distribute.experimental.partitioners"
Partitioner = unsupported_class(f"{_PARTITIONERS}.Partitioner", _NO_PARTITIONERS)
FixedShardsPartitioner = unsupported_class(f"{_PARTITIONERS}.FixedShardsPartitioner", _NO_PARTITIONERS)
MinSizePartitioner = unsupported_class(f"{_PARTITIONERS}.MinSizePartitioner", _NO_PARTITIONERS)
MaxSizePartitioner = unsupported_class(f"{_PARTITIONERS}.MaxSizePartitioner", _NO_PARTITIONERS)

RpcServer = unsupported_class("tf.distribute.experimental.rpc.Server", _NO_RPC)
RpcClient = unsupported_class("tf.distribute.experimental.rpc.Client", _NO_RPC)
