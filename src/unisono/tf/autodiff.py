"""`tf.autodiff`: gradients of what was computed in a block, and derivatives in a direction."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono._src.tracing.tape import ForwardAccumulator, GradientTape
from unisono.tf._missing import explain_missing_names as _explain_missing_names

__getattr__ = _explain_missing_names("tf.autodiff")
