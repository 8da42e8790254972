"""`tf.summary.experimental`: the step of all summaries."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.summary._defaults import get_step as get_step
from unisono.tf.summary._defaults import set_step as set_step

__getattr__ = _missing_in("tf.summary.experimental")
