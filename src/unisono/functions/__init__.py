"""Functions that are compiled, with the variables that they read and write found by tracing."""

from unisono.functions._arguments import taken_apart as taken_apart
from unisono.functions._branches import cond as cond
from unisono.functions._capture import CaptureScope as CaptureScope
from unisono.functions._concrete import ConcreteFunction as ConcreteFunction
from unisono.functions._eagerly import functions_run_eagerly as functions_run_eagerly
from unisono.functions._eagerly import run_functions_eagerly as run_functions_eagerly
from unisono.functions._errors import TracedValueError as TracedValueError
from unisono.functions._function import Function as Function
from unisono.functions._function import function as function
from unisono.functions._host_loop import piece_of_host_loop as piece_of_host_loop
from unisono.functions._replica_scope import ReplicaScope as ReplicaScope
