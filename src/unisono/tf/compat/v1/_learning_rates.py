"""`tf.compat.v1.train.exponential_decay` and its like, and the global step that they depend on.

As in TensorFlow's eager execution a decayed rate is a function without arguments, which an optimizer calls at each
step: it reads the global step, which `minimize` and `apply_gradients` increase if they get it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import keras
from keras.optimizers import schedules

from unisono.tf._tensors import as_array
from unisono.tf._variables import Variable, VariableAggregation

_global_steps: list[Any] = []

STEP_EXISTS = "tf.compat.v1.train.create_global_step: there is one already; use get_or_create_global_step()."


def get_global_step(graph: Any = None) -> Any:
    """The variable that counts steps; None if it was not created."""
    return _global_steps[0] if _global_steps else None


def create_global_step(graph: Any = None) -> Any:
    """Creates the variable that counts steps."""
    if _global_steps:
        raise ValueError(STEP_EXISTS)
    return get_or_create_global_step()


def get_or_create_global_step(graph: Any = None) -> Any:
    """The variable that counts steps, which is created by the first call."""
    if not _global_steps:
        first = VariableAggregation.ONLY_FIRST_REPLICA
        _global_steps.append(Variable(0, trainable=False, name="global_step", dtype="int64", aggregation=first))
    return _global_steps[0]


def exponential_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: Any = None
) -> Callable[[], Any]:
    """``learning_rate * decay_rate ** (global_step / decay_steps)``."""
    return _follow(schedules.ExponentialDecay(learning_rate, decay_steps, decay_rate, staircase), global_step)


def natural_exp_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: Any = None
) -> Callable[[], Any]:
    """``learning_rate * exp(-decay_rate * global_step / decay_steps)``."""
    return exponential_decay(learning_rate, global_step, decay_steps, math.exp(-decay_rate), staircase)


def inverse_time_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False, name: Any = None
) -> Callable[[], Any]:
    """``learning_rate / (1 + decay_rate * global_step / decay_steps)``."""
    return _follow(schedules.InverseTimeDecay(learning_rate, decay_steps, decay_rate, staircase), global_step)


def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: float = 0.0001,
    power: float = 1.0,
    cycle: bool = False,
    name: Any = None,
) -> Callable[[], Any]:
    """A polynomial from ``learning_rate`` to ``end_learning_rate`` over ``decay_steps``."""
    return _follow(schedules.PolynomialDecay(learning_rate, decay_steps, end_learning_rate, power, cycle), global_step)


def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: float = 0.0, name: Any = None
) -> Callable[[], Any]:
    """Half a period of a cosine from ``learning_rate`` to ``alpha * learning_rate``."""
    return _follow(schedules.CosineDecay(learning_rate, decay_steps, alpha), global_step)


def piecewise_constant(x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: Any = None) -> Callable[[], Any]:
    """The value of the interval that ``x`` is in."""
    return _follow(schedules.PiecewiseConstantDecay(list(boundaries), list(values)), x)


piecewise_constant_decay = piecewise_constant


def _follow(schedule: Any, step: Any) -> Callable[[], Any]:
    def rate() -> Any:
        value = step() if callable(step) and not isinstance(step, keras.Variable) else step
        return schedule(as_array(value))

    return rate
