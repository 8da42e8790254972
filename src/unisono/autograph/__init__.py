"""Python's control flow on traced values: functions are rewritten so that a program can make their decisions."""

from unisono.autograph._convert import convert as convert
from unisono.autograph._convert import do_not_convert as do_not_convert
from unisono.autograph._convert import to_code as to_code
from unisono.autograph._errors import ControlFlowError as ControlFlowError
from unisono.autograph._ranges import TracedRange as TracedRange
