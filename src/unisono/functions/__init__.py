"""Functions that are compiled, with the variables that they read and write found by tracing."""

from unisono.functions._arguments import taken_apart as taken_apart
from unisono.functions._branches import Branch as Branch
from unisono.functions._branches import chosen as chosen
from unisono.functions._branches import cond as cond
from unisono.functions._capture import CaptureScope as CaptureScope
from unisono.functions._capture import check_trace as check_trace
from unisono.functions._concrete import ConcreteFunction as ConcreteFunction
from unisono.functions._eagerly import functions_run_eagerly as functions_run_eagerly
from unisono.functions._eagerly import run_functions_eagerly as run_functions_eagerly
from unisono.functions._errors import TracedValueError as TracedValueError
from unisono.functions._for_arguments import ForArguments as ForArguments
from unisono.functions._function import Function as Function
from unisono.functions._function import function as function
from unisono.functions._host_loop import piece_of_host_loop as piece_of_host_loop
from unisono.functions._loops import Body as Body
from unisono.functions._loops import scanned as scanned
from unisono.functions._loops import turned_while as turned_while
from unisono.functions._nested import NestedScope as NestedScope
from unisono.functions._nested import Outer as Outer
from unisono.functions._nested import scope_here as scope_here
from unisono.functions._replica_scope import ReplicaScope as ReplicaScope
