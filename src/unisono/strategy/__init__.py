"""Strategies: which devices train together."""

from unisono.strategy._current import experimental_set_strategy as experimental_set_strategy
from unisono.strategy._current import get_strategy as get_strategy
from unisono.strategy._current import has_strategy as has_strategy
from unisono.strategy._current import in_cross_replica_context as in_cross_replica_context
from unisono.strategy._distributed_dataset import DistributedDataset as DistributedDataset
from unisono.strategy._distributed_iterator import DistributedIterator as DistributedIterator
from unisono.strategy._distributed_iterator import OutOfRangeError as OutOfRangeError
from unisono.strategy._input_context import InputContext as InputContext
from unisono.strategy._input_context import ValueContext as ValueContext
from unisono.strategy._input_options import InputOptions as InputOptions
from unisono.strategy._input_options import InputReplicationMode as InputReplicationMode
from unisono.strategy._mirrored import MirroredStrategy as MirroredStrategy
from unisono.strategy._one_device import OneDeviceStrategy as OneDeviceStrategy
from unisono.strategy._strategy import Strategy as Strategy
from unisono.strategy._strategy import StrategyExtended as StrategyExtended
from unisono.values import DistributedValues as DistributedValues
from unisono.values import PerReplica as PerReplica
from unisono.values import PerReplicaSpec as PerReplicaSpec
