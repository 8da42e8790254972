"""`tf.train.experimental`: `PythonState` and `CheckpointOptions`."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._unsupported import unsupported_function
from unisono.tf.train._checkpoint import CheckpointOptions
from unisono.tf.train._python_state import PythonState

_POLICY = 'use tf.keras.mixed_precision.set_global_policy("mixed_bfloat16") before the model is created.'

enable_mixed_precision_graph_rewrite = unsupported_function(
    "tf.train.experimental.enable_mixed_precision_graph_rewrite", _POLICY
)
disable_mixed_precision_graph_rewrite = unsupported_function(
    "tf.train.experimental.disable_mixed_precision_graph_rewrite", _POLICY
)

__getattr__ = _explain_missing_names("tf.train.experimental")
