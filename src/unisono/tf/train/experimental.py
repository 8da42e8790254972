"""`tf.train.experimental`."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf._refused import refused
from unisono.tf.train._checkpoint_state import CheckpointOptions
from unisono.tf.train._python_state import PythonState

_POLICY = 'use tf.keras.mixed_precision.set_global_policy("mixed_bfloat16") before the model is made.'

enable_mixed_precision_graph_rewrite = refused("tf.train.experimental.enable_mixed_precision_graph_rewrite", _POLICY)
disable_mixed_precision_graph_rewrite = refused("tf.train.experimental.disable_mixed_precision_graph_rewrite", _POLICY)

__getattr__ = _missing_in("tf.train.experimental")
