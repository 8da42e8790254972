"""Losses of custom loops, scaled so that their sum over replicas is right."""

from unisono.nn._average_loss import compute_average_loss as compute_average_loss
from unisono.nn._average_loss import scale_regularization_loss as scale_regularization_loss
