"""The learning rate for more replicas: scaled by their number, after a warm-up."""

from __future__ import annotations

import math
from typing import Any, Final, Literal

import keras
import numpy as np

from unisono._src.replicas import context

Rule = Literal["linear", "sqrt"]

_RULES: Final = ("linear", "sqrt")

UNKNOWN_RULE = """scale_learning_rate: rule={rule!r}. Write "linear", which multiplies the learning rate by the number
of replicas, or "sqrt", which multiplies it by the square root of that."""

NOT_A_STRATEGY = """scale_learning_rate: strategy is a {kind}. Pass the strategy in whose scope the model is created:
    unisono.scale_learning_rate(0.001, strategy)"""

NOT_A_RATE = """scale_learning_rate: base={base!r}. It is the learning rate for one replica: a number above 0, or a
keras.optimizers.schedules.LearningRateSchedule."""


@keras.saving.register_keras_serializable(package="unisono")
class ScaledLearningRate(keras.optimizers.schedules.LearningRateSchedule):
    """``base`` times a factor that rises from 1 to ``factor`` in the first ``warmup_steps`` steps.

    Saved models contain the factor, so a loaded model keeps its learning rate on any number of devices.
    """

    def __init__(self, base: Any, factor: float, warmup_steps: int = 0, name: str = "scaled_learning_rate"):
        super().__init__()
        self.base, self.factor, self.warmup_steps, self.name = base, factor, warmup_steps, name

    def __call__(self, step: Any) -> Any:
        """The learning rate of a step, from 0."""
        with keras.name_scope(self.name):
            base = self.base(step) if callable(self.base) else self.base
            base = keras.ops.cast(base, "float32")
            if not self.warmup_steps:
                return base * self.factor
            done = keras.ops.minimum(keras.ops.cast(step, "float32") / self.warmup_steps, 1.0)
            return base * (1.0 + (self.factor - 1.0) * done)

    def get_config(self) -> dict[str, Any]:
        """What the schedule is made of again when a model is loaded."""
        base = keras.saving.serialize_keras_object(self.base) if callable(self.base) else self.base
        return {"base": base, "factor": self.factor, "warmup_steps": self.warmup_steps, "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> ScaledLearningRate:
        """The schedule that gave this configuration."""
        base = config["base"]
        if isinstance(base, dict):
            base = keras.saving.deserialize_keras_object(base)
        return cls(**{**config, "base": base})


def scale_learning_rate(
    base: Any, strategy: context.HasPlacement, rule: Rule = "linear", warmup_steps: int = 0
) -> ScaledLearningRate:
    """Returns a schedule with the learning rate for the number of replicas of ``strategy``.

    Use it if the global batch grows with the number of replicas. If the global batch stays the same, so does the
    learning rate, because results do not depend on the number of replicas.

    >>> import unisono
    >>> strategy = unisono.MirroredStrategy([f"cpu:{index}" for index in range(4)])
    >>> schedule = unisono.scale_learning_rate(0.01, strategy, warmup_steps=100)
    >>> [round(float(schedule(step)), 6) for step in (0, 50, 100, 1000)]
    [0.01, 0.025, 0.04, 0.04]

    Pass it to an optimizer: `keras.optimizers.SGD(schedule, momentum=0.9)`.

    Args:
        base: the learning rate for one replica: a number, or a schedule, whose values are multiplied.
        strategy: the strategy of the model.
        rule: "linear" multiplies by the number of replicas, "sqrt" by its square root.
        warmup_steps: the number of steps in which the factor rises linearly from 1 to its value. With 0, training
            starts at the full rate. A resumed run continues where it stopped, because the optimizer counts the steps.
    """
    if rule not in _RULES:
        raise ValueError(UNKNOWN_RULE.format(rule=rule))
    if not hasattr(strategy, "num_replicas_in_sync"):
        raise TypeError(NOT_A_STRATEGY.format(kind=type(strategy).__name__))
    is_schedule = isinstance(base, keras.optimizers.schedules.LearningRateSchedule)
    if not is_schedule and not (isinstance(base, int | float | np.number) and not isinstance(base, bool) and base > 0):
        raise ValueError(NOT_A_RATE.format(base=base))
    if not isinstance(warmup_steps, int | np.integer) or warmup_steps < 0:
        raise ValueError(f"scale_learning_rate: warmup_steps={warmup_steps!r}. It is a whole number of at least 0.")
    replicas = strategy.num_replicas_in_sync
    factor = float(replicas) if rule == "linear" else math.sqrt(replicas)
    return ScaledLearningRate(base if is_schedule else float(base), factor, int(warmup_steps))
