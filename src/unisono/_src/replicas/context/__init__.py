"""The current strategy and replica of a thread: the scope that is entered, and the replica whose code runs."""

from unisono._src.replicas.context._replica import Replica
from unisono._src.replicas.context._stack import (
    HasPlacement, MergeCall, current_replica, current_strategy, enter_strategy, expect_use, idle_strategy,
    merging_replica, outside_of_replicas, outside_of_strategies, run_as, set_global_strategy,
)
