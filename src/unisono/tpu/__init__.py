"""`tpu.experimental`: what scripts for TPUs call before they make a strategy."""

from unisono.tpu import experimental

__all__ = ["experimental"]
