"""Gradients of what was just computed: `GradientTape`."""

from unisono._src.tracing.tape._sessions import not_recording, note_read, tapes_recording
from unisono._src.tracing.tape._tape import GradientTape
from unisono._src.tracing.tape._unconnected import UnconnectedGradients
