"""Derivatives of what was just computed: `GradientTape`, `ForwardAccumulator`."""

from unisono._src.tracing.tape._forward_accumulator import ForwardAccumulator
from unisono._src.tracing.tape._sessions import is_any_tape_recording, record_variable_read
from unisono._src.tracing.tape._tape import GradientTape
from unisono._src.tracing.tape._unconnected import UnconnectedGradients
