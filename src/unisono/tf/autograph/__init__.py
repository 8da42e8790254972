"""`tf.autograph`: what `tf.function` does to Python's control flow, to be used and looked at by itself."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.autograph import experimental as experimental
from unisono.tf.autograph._converting import set_verbosity as set_verbosity
from unisono.tf.autograph._converting import to_code as to_code
from unisono.tf.autograph._converting import to_graph as to_graph
from unisono.tf.autograph._converting import trace as trace

__getattr__ = _missing_in("tf.autograph")
