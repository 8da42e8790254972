"""Hook: a Keras loss that averages is divided by the number of replicas, so that their sum is the average.

Checked against Keras 3.15.1: `losses.loss.scale_loss_for_distribution` does this for TensorFlow's strategies and is
called by every `Loss`; `unscale_loss_for_distribution` undoes it for metrics.
"""

from __future__ import annotations

from typing import Any

from keras.src.losses import loss

from unisono._src.replicas import context


def scale_losses() -> None:
    """Installs the hook."""
    loss.scale_loss_for_distribution = lambda value: value * (1.0 / number) if (number := _number()) > 1 else value
    loss.unscale_loss_for_distribution = lambda value: value * number if (number := _number()) > 1 else value


def _number() -> Any:
    replica = context.current_replica()
    return 1 if replica is None else replica.num_replicas
