"""`tf.profiler.experimental`: what runs when, for TensorBoard."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.profiler.experimental import client as client
from unisono.tf.profiler.experimental import server as server
from unisono.tf.profiler.experimental._profiler import Profile as Profile
from unisono.tf.profiler.experimental._profiler import ProfilerOptions as ProfilerOptions
from unisono.tf.profiler.experimental._profiler import Trace as Trace
from unisono.tf.profiler.experimental._profiler import start as start
from unisono.tf.profiler.experimental._profiler import stop as stop

__getattr__ = _missing_in("tf.profiler.experimental")
