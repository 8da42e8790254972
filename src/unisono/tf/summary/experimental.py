"""`tf.summary.experimental`: the step of all summaries, and summaries that others have made."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.summary._defaults import get_step, set_step
from unisono.tf.summary._raw import summary_scope, write_raw_pb

__getattr__ = _missing_in("tf.summary.experimental")
