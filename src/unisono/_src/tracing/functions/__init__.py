"""Functions that are compiled, with the variables that they read and write found by tracing."""

from unisono._src.tracing.functions._arguments import taken_apart
from unisono._src.tracing.functions._branches import Branch, chosen, cond
from unisono._src.tracing.functions._capture import CaptureScope, check_trace
from unisono._src.tracing.functions._concrete import ConcreteFunction
from unisono._src.tracing.functions._eagerly import functions_run_eagerly, run_functions_eagerly
from unisono._src.tracing.functions._errors import TracedValueError
from unisono._src.tracing.functions._for_arguments import ForArguments
from unisono._src.tracing.functions._function import Function, function
from unisono._src.tracing.functions._host_loop import piece_of_host_loop
from unisono._src.tracing.functions._loops import Body, scanned, turned_while
from unisono._src.tracing.functions._nested import NestedScope, Outer, scope_here
from unisono._src.tracing.functions._replica_scope import ReplicaScope
