"""`tf.distribute`: the strategies are Unisono's own classes.

```python
import unisono.tf as tf

strategy = tf.distribute.MirroredStrategy()
```
"""

from unisono.strategy import CrossDeviceOps as CrossDeviceOps
from unisono.strategy import DistributedDataset as DistributedDataset
from unisono.strategy import DistributedIterator as DistributedIterator
from unisono.strategy import DistributedValues as DistributedValues
from unisono.strategy import HierarchicalCopyAllReduce as HierarchicalCopyAllReduce
from unisono.strategy import InputContext as InputContext
from unisono.strategy import InputOptions as InputOptions
from unisono.strategy import InputReplicationMode as InputReplicationMode
from unisono.strategy import MirroredStrategy as MirroredStrategy
from unisono.strategy import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from unisono.strategy import NcclAllReduce as NcclAllReduce
from unisono.strategy import OneDeviceStrategy as OneDeviceStrategy
from unisono.strategy import ReduceOp as ReduceOp
from unisono.strategy import ReductionToOneDevice as ReductionToOneDevice
from unisono.strategy import ReplicaContext as ReplicaContext
from unisono.strategy import RunOptions as RunOptions
from unisono.strategy import Strategy as Strategy
from unisono.strategy import StrategyExtended as StrategyExtended
from unisono.strategy import TPUStrategy as TPUStrategy
from unisono.strategy import experimental_set_strategy as experimental_set_strategy
from unisono.strategy import get_replica_context as get_replica_context
from unisono.strategy import get_strategy as get_strategy
from unisono.strategy import has_strategy as has_strategy
from unisono.strategy import in_cross_replica_context as in_cross_replica_context
from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.distribute import _install as _install
from unisono.tf.distribute import cluster_resolver as cluster_resolver
from unisono.tf.distribute import coordinator as coordinator
from unisono.tf.distribute import experimental as experimental
from unisono.tf.distribute._parameter_servers import ParameterServerStrategy as ParameterServerStrategy
from unisono.tf.distribute._parameter_servers import Server as Server

__getattr__ = _missing_in("tf.distribute")
