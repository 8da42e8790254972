"""`tf.summary.experimental`: the default step, and summaries that plugins of TensorBoard serialize themselves."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.summary._defaults import get_step, set_step
from unisono.tf.summary._record import summary_scope, write_raw_pb

__getattr__ = _explain_missing_names("tf.summary.experimental")
