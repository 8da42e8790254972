"""Who am I: the strategy whose scope this thread is in, and the replica that it runs."""

from unisono._src.replicas.context._replica import Replica
from unisono._src.replicas.context._stack import (
    HasPlacement,
    MergeCall,
    current_replica,
    current_strategy,
    enter_strategy,
    merging_replica,
    outside_of_replicas,
    outside_of_strategies,
    run_as,
    set_global_strategy,
)
