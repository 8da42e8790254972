"""Training with parameter servers: the strategy, its coordinator, and the server that the other tasks run.

```python
from unisono.parameter_servers import ClusterCoordinator, ParameterServerStrategy, Server
```
"""

from unisono._src.parameter_servers import (
    ClosureCancelledError, ClosureFailedError, ClusterCoordinator, FixedShardsPartitioner, MaxSizePartitioner,
    MinSizePartitioner, ParameterServerStrategy, Partitioner, PerWorkerDataset, PerWorkerIterator, PerWorkerValues,
    RemoteValue, Server, ShardedVariable, get_current_worker_index,
)

__all__ = [
    "ClosureCancelledError", "ClosureFailedError", "ClusterCoordinator", "FixedShardsPartitioner", "MaxSizePartitioner",
    "MinSizePartitioner", "ParameterServerStrategy", "Partitioner", "PerWorkerDataset", "PerWorkerIterator",
    "PerWorkerValues", "RemoteValue", "Server", "ShardedVariable", "get_current_worker_index",
]
