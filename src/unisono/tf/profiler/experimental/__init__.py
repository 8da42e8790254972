"""`tf.profiler.experimental`: what runs when, for TensorBoard."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.profiler.experimental import client, server
from unisono.tf.profiler.experimental._profiler import Profile, ProfilerOptions, Trace, start, stop

__getattr__ = _missing_in("tf.profiler.experimental")
