"""`tf.profiler.experimental`: records profiles for TensorBoard."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.profiler.experimental import client, server
from unisono.tf.profiler.experimental._profiler import Profile, ProfilerOptions, Trace, start, stop

__getattr__ = _explain_missing_names("tf.profiler.experimental")
