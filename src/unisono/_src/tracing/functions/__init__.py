"""Compiled functions: the variables that they read and write are found by tracing."""

from unisono._src.tracing.functions._arguments import Arguments, flatten_arguments
from unisono._src.tracing.functions._branches import Branch, cond, run_cond
from unisono._src.tracing.functions._capture import CaptureScope, check_trace
from unisono._src.tracing.functions._concrete import (
    ConcreteFunction, FunctionTrace, creates_every_time, trace_function,
)
from unisono._src.tracing.functions._errors import TracedValueError, argument_error, explain_errors
from unisono._src.tracing.functions._function import Function, function, functions_run_eagerly, run_functions_eagerly
from unisono._src.tracing.functions._host_loop import get_or_make_in_host_loop
from unisono._src.tracing.functions._loops import LoopBody, run_scan, run_while
from unisono._src.tracing.functions._nested import NestedScope, OuterScope, current_outer_scope
from unisono._src.tracing.functions._remat import remat
from unisono._src.tracing.functions._rematerialize import rematerialize
from unisono._src.tracing.functions._replica_scope import ReplicaScope
from unisono._src.tracing.functions._replica_shards import ReplicaShards
from unisono._src.tracing.functions._specialized_function import SpecializedFunction
