"""`tf.distribute`: the strategies are Unisono's classes.

```python
import unisono.tf as tf

strategy = tf.distribute.MirroredStrategy()
```
"""

from unisono._src.parameter_servers import ParameterServerStrategy, Server
from unisono._src.strategy import (
    CrossDeviceOps, DistributedDataset, DistributedIterator, DistributedValues, HierarchicalCopyAllReduce, InputContext,
    InputOptions, InputReplicationMode, MirroredStrategy, MultiWorkerMirroredStrategy, NcclAllReduce, OneDeviceStrategy,
    ReduceOp, ReductionToOneDevice, ReplicaContext, RunOptions, Strategy, StrategyExtended, TPUStrategy,
    experimental_set_strategy, get_replica_context, get_strategy, has_strategy, in_cross_replica_context,
)
from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.distribute import _strategy_methods, cluster_resolver, coordinator, experimental

__getattr__ = _explain_missing_names("tf.distribute")
