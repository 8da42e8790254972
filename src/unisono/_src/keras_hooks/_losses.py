"""Hook: a Keras loss that averages is divided by the number of replicas, so that their sum is the average.

Checked against Keras 3.15.1: `losses.loss.scale_loss_for_distribution` does this for TensorFlow's strategies and is
called by every `Loss`; `unscale_loss_for_distribution` undoes it for metrics.
"""

from __future__ import annotations

from typing import Any

from keras.src.losses import loss
from keras.src.trainers.compile_utils import CompileLoss

from unisono._src import hooks
from unisono._src.replicas import context


def install_loss_scaling() -> None:
    """Installs the hook."""
    why = "without it the sum of the replicas' gradients is N times too large"
    hooks.require(loss.Loss, "__call__", expects="calls reduce_weighted_values", why=why)
    hooks.require(loss, "reduce_weighted_values", expects="calls reduce_values", why=why)
    hooks.require(loss, "reduce_values", expects="calls scale_loss_for_distribution", why=why)
    hooks.require(CompileLoss, "call", expects="calls loss_module.unscale_loss_for_distribution", why=why)
    hooks.patch(loss, "scale_loss_for_distribution", _scale, expects="(value)", why=why)
    hooks.patch(loss, "unscale_loss_for_distribution", _unscale, expects="(value)", why=why)


def _scale(value: Any) -> Any:
    number = _num_replicas()
    return value * (1.0 / number) if number > 1 else value


def _unscale(value: Any) -> Any:
    number = _num_replicas()
    return value * number if number > 1 else value


def _num_replicas() -> Any:
    replica = context.current_replica()
    return 1 if replica is None else replica.num_replicas
