"""`tf.summary.experimental`: the step of all summaries, and summaries that others have made."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.summary._defaults import get_step as get_step
from unisono.tf.summary._defaults import set_step as set_step
from unisono.tf.summary._raw import summary_scope as summary_scope
from unisono.tf.summary._raw import write_raw_pb as write_raw_pb

__getattr__ = _missing_in("tf.summary.experimental")
