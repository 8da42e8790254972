"""Unisono trains Keras 3 models on every device you have, in lockstep.

```python
import unisono  # before keras, whose backend it chooses
import keras

strategy = unisono.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(10)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=256)
```
"""

from unisono._src import _prepare as _prepare  # isort: skip  (chooses Keras's backend; everything below imports Keras)

from unisono import callbacks, checkpoint, cluster_resolver, config, data, datasets, io, nn, parameter_servers, tpu
from unisono._src._install_hooks import install_hooks as _install_hooks
from unisono._src.parameter_servers import ParameterServerStrategy
from unisono._src.strategy import (
    CentralStorageStrategy, CommunicationImplementation, CommunicationOptions, DistributedDataset,
    DistributedIterator, DistributedValues, FullyShardedStrategy, InputContext, InputOptions, InputReplicationMode,
    MirroredStrategy, ModelParallelStrategy, MultiWorkerMirroredStrategy, OneDeviceStrategy, ReduceOp,
    ReplicaContext, RunOptions, Strategy, StrategyExtended, TPUStrategy, experimental_set_strategy,
    get_replica_context, get_strategy, has_strategy, in_cross_replica_context,
)
from unisono._src.tracing.control_flow import ControlFlowError
from unisono._src.tracing.functions import (
    TracedValueError, function, functions_run_eagerly, remat, run_functions_eagerly,
)
from unisono._src.tracing.tape import GradientTape, UnconnectedGradients
from unisono._src.training import HistoryChart, Resume, plot_history
from unisono._src.tuning import find_batch_size, find_learning_rate, scale_learning_rate

_install_hooks()

__version__ = "0.1.0"

__all__ = [
    "CentralStorageStrategy", "CommunicationImplementation", "CommunicationOptions", "ControlFlowError",
    "DistributedDataset", "DistributedIterator", "DistributedValues", "FullyShardedStrategy", "GradientTape",
    "HistoryChart", "InputContext", "InputOptions", "InputReplicationMode", "MirroredStrategy", "ModelParallelStrategy",
    "MultiWorkerMirroredStrategy", "OneDeviceStrategy", "ParameterServerStrategy", "ReduceOp", "ReplicaContext",
    "Resume", "RunOptions", "Strategy", "StrategyExtended", "TPUStrategy", "TracedValueError",
    "UnconnectedGradients", "callbacks", "checkpoint", "cluster_resolver", "config", "data", "datasets",
    "experimental_set_strategy", "find_batch_size", "find_learning_rate", "function", "functions_run_eagerly",
    "get_replica_context", "get_strategy", "has_strategy", "in_cross_replica_context", "io", "nn",
    "parameter_servers", "plot_history", "remat", "run_functions_eagerly", "scale_learning_rate", "tpu",
]
