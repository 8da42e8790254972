"""Gradients of what was just computed: `GradientTape`."""

from unisono.autodiff._sessions import not_recording as not_recording
from unisono.autodiff._sessions import note_read as note_read
from unisono.autodiff._sessions import tapes_recording as tapes_recording
from unisono.autodiff._tape import GradientTape as GradientTape
from unisono.autodiff._unconnected import UnconnectedGradients as UnconnectedGradients
