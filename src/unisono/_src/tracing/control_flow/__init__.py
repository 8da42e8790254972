"""Python's control flow on traced values: functions are rewritten so that a program can make their decisions."""

from unisono._src.tracing.control_flow._convert import convert, do_not_convert, to_code
from unisono._src.tracing.control_flow._errors import ControlFlowError
from unisono._src.tracing.control_flow._ranges import TracedRange
