"""Losses of custom training loops, scaled so that their sum over replicas is right."""

from unisono._src.strategy._average_loss import compute_average_loss, scale_regularization_loss

__all__ = [
    "compute_average_loss", "scale_regularization_loss",
]
