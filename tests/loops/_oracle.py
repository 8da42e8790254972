"""One device's answer, without a tape, a function or a strategy: `jax.value_and_grad` over Keras's stateless calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
import keras
import numpy as np


class Answer(NamedTuple):
    """What a loop leaves behind."""

    weights: list[Any]
    losses: list[float]
    metric: float | None = None


def train_on_one_device(
    model: keras.Model,
    optimizer: keras.optimizers.Optimizer,
    steps: Iterable[tuple[Any, Any]],
    loss: Callable[[Any, Any], Any],
    metric: keras.metrics.Metric | None = None,
    training: bool = True,
) -> Answer:
    """`loss(y, outputs)` and the model's own losses are minimised; `metric` sees each step's outputs before the update.

    The model keeps its weights.
    """
    optimizer.build(model.trainable_variables)

    def objective(trainable: Any, rest: Any, x: Any, y: Any) -> Any:
        outputs, rest, own = model.stateless_call(trainable, rest, x, training=training, return_losses=True)
        return loss(y, outputs) + sum(own), (rest, outputs)

    @jax.jit
    def step(trainable: Any, rest: Any, slots: Any, x: Any, y: Any) -> Any:
        (value, (rest, outputs)), gradients = jax.value_and_grad(objective, has_aux=True)(trainable, rest, x, y)
        trainable, slots = optimizer.stateless_apply(slots, gradients, trainable)
        return trainable, rest, slots, value, outputs

    trainable = [v.value for v in model.trainable_variables]
    rest = [v.value for v in model.non_trainable_variables]
    slots = [v.value for v in optimizer.variables]
    losses = []
    for x, y in steps:
        trainable, rest, slots, value, outputs = step(trainable, rest, slots, x, y)
        losses.append(float(value))
        if metric is not None:
            metric.update_state(y, outputs)
    of = {v.path: value for v, value in zip(model.trainable_variables, trainable, strict=True)}
    of |= {v.path: value for v, value in zip(model.non_trainable_variables, rest, strict=True)}
    weights = [np.asarray(of[v.path]) for v in model.weights]
    return Answer(weights, losses, None if metric is None else float(metric.result()))


def global_batches(data: tuple[Any, ...], size: int, epochs: int = 1) -> list[tuple[Any, ...]]:
    """The batches that one device sees."""
    starts = range(0, len(data[0]), size)
    return [tuple(part[start : start + size] for part in data) for _ in range(epochs) for start in starts]
