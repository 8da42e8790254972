"""Strategies: which devices train together, and what a script does with them."""

from unisono._src.core import OutOfRangeError
from unisono._src.replicas.values import DistributedValues, PerReplica, PerReplicaSpec
from unisono._src.strategy._autoshard import reads_per_worker_data
from unisono._src.strategy._communication import (
    CommunicationImplementation, CommunicationOptions, CrossDeviceOps, HierarchicalCopyAllReduce, NcclAllReduce,
    ReductionToOneDevice,
)
from unisono._src.strategy._current import (
    experimental_set_strategy, get_replica_context, get_strategy, has_strategy, in_cross_replica_context,
)
from unisono._src.strategy._distribute import distribute_dataset
from unisono._src.strategy._distributed_dataset import DistributedDataset
from unisono._src.strategy._distributed_iterator import DistributedIterator
from unisono._src.strategy._extended import StrategyExtended
from unisono._src.strategy._input_context import InputContext, ValueContext
from unisono._src.strategy._join_cluster import ignore_cluster
from unisono._src.strategy._options import InputOptions, InputReplicationMode, RunOptions
from unisono._src.strategy._reduce import ReduceOp
from unisono._src.strategy._replica_context import ReplicaContext
from unisono._src.strategy._sharded_strategies import FullyShardedStrategy, ModelParallelStrategy
from unisono._src.strategy._strategies import (
    CentralStorageStrategy, MirroredStrategy, MultiWorkerMirroredStrategy, OneDeviceStrategy,
)
from unisono._src.strategy._strategy import Strategy
from unisono._src.strategy._tpu import TPUStrategy
