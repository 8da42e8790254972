"""`tf.distribute`: the strategies are Unisono's own classes.

```python
import unisono.tf as tf

strategy = tf.distribute.MirroredStrategy()
```
"""

from unisono._src.strategy import CrossDeviceOps as CrossDeviceOps
from unisono._src.strategy import DistributedDataset as DistributedDataset
from unisono._src.strategy import DistributedIterator as DistributedIterator
from unisono._src.strategy import DistributedValues as DistributedValues
from unisono._src.strategy import HierarchicalCopyAllReduce as HierarchicalCopyAllReduce
from unisono._src.strategy import InputContext as InputContext
from unisono._src.strategy import InputOptions as InputOptions
from unisono._src.strategy import InputReplicationMode as InputReplicationMode
from unisono._src.strategy import MirroredStrategy as MirroredStrategy
from unisono._src.strategy import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from unisono._src.strategy import NcclAllReduce as NcclAllReduce
from unisono._src.strategy import OneDeviceStrategy as OneDeviceStrategy
from unisono._src.strategy import ReduceOp as ReduceOp
from unisono._src.strategy import ReductionToOneDevice as ReductionToOneDevice
from unisono._src.strategy import ReplicaContext as ReplicaContext
from unisono._src.strategy import RunOptions as RunOptions
from unisono._src.strategy import Strategy as Strategy
from unisono._src.strategy import StrategyExtended as StrategyExtended
from unisono._src.strategy import TPUStrategy as TPUStrategy
from unisono._src.strategy import experimental_set_strategy as experimental_set_strategy
from unisono._src.strategy import get_replica_context as get_replica_context
from unisono._src.strategy import get_strategy as get_strategy
from unisono._src.strategy import has_strategy as has_strategy
from unisono._src.strategy import in_cross_replica_context as in_cross_replica_context
from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.distribute import _install as _install
from unisono.tf.distribute import cluster_resolver as cluster_resolver
from unisono.tf.distribute import coordinator as coordinator
from unisono.tf.distribute import experimental as experimental
from unisono.tf.distribute._parameter_servers import ParameterServerStrategy as ParameterServerStrategy
from unisono.tf.distribute._parameter_servers import Server as Server

__getattr__ = _missing_in("tf.distribute")
