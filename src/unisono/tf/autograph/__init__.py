"""`tf.autograph`: the conversion of Python control flow that `tf.function` does, usable by itself."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.autograph import experimental
from unisono.tf.autograph._conversion import set_verbosity, to_code, to_graph, trace

__getattr__ = _explain_missing_names("tf.autograph")
