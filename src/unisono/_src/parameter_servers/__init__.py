"""Parameter servers: variables on servers, workers that train asynchronously, and the chief that coordinates them."""

from unisono._src.keras_hooks import ShardedVariable
from unisono._src.parameter_servers._coordinator import ClusterCoordinator
from unisono._src.parameter_servers._errors import ClosureCancelledError, cancelled_error, unavailable_error
from unisono._src.parameter_servers._partitioners import (
    FixedShardsPartitioner, MaxSizePartitioner, MinSizePartitioner, Partitioner,
)
from unisono._src.parameter_servers._per_worker_dataset import (
    PerWorkerDataset, PerWorkerIterator, get_current_worker_index,
)
from unisono._src.parameter_servers._remote_value import PerWorkerValues, RemoteValue
from unisono._src.parameter_servers._strategy import ParameterServerStrategy
from unisono._src.parameter_servers._task_server import Server
from unisono._src.parameter_servers._worker_thread import ClosureFailedError
