"""Who am I: the strategy whose scope this thread is in, and the replica that it runs."""

from unisono.context._replica import Replica as Replica
from unisono.context._stack import Merged as Merged
from unisono.context._stack import Placed as Placed
from unisono.context._stack import current as current
from unisono.context._stack import entered as entered
from unisono.context._stack import merged as merged
from unisono.context._stack import outside_of_replicas as outside_of_replicas
from unisono.context._stack import outside_of_strategies as outside_of_strategies
from unisono.context._stack import replica as replica
from unisono.context._stack import running_on as running_on
from unisono.context._stack import set_global as set_global
