"""Who am I: the strategy whose scope this thread is in."""

from unisono.context._stack import Placed as Placed
from unisono.context._stack import current as current
from unisono.context._stack import entered as entered
from unisono.context._stack import set_global as set_global
