"""Who am I: the strategy whose scope this thread is in, and the replica that it runs."""

from unisono._src.replicas.context._replica import Replica
from unisono._src.replicas.context._stack import (
    Merged,
    Placed,
    current,
    entered,
    merged,
    outside_of_replicas,
    outside_of_strategies,
    replica,
    running_on,
    set_global,
)
