"""Keras's optimizers with the names of Keras 2: `lr`, `decay`, `get_weights`, `minimize`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from unisono._src.tracing.tape import GradientTape

NEEDS_TAPE = """minimize() was given a loss that is computed already, and no tape. Pass the tape that saw it, as
tape=tape, or a function without arguments that computes it."""

FOLLOWS_SCHEDULE = """optimizer.lr = {value}: this optimizer was made with `decay` or with a schedule, which says what
its rate is. Make it with a number alone, SGD(learning_rate=0.1), to set the rate later."""


def give_old_names() -> None:
    """Puts them onto Keras's class, so that optimizers made by stock `keras` have them too."""
    kind = keras.optimizers.Optimizer
    kind.__init__ = _taking_old_arguments(kind.__init__)
    kind.lr = property(lambda self: self.learning_rate, _set_learning_rate)
    kind.weights = property(lambda self: self.variables)
    kind.get_weights = lambda self: [np.asarray(variable.value) for variable in self.variables]
    plain_variables = kind.variables.fget
    kind.variables = property(lambda self: _Listed(plain_variables(self)), doc=kind.variables.__doc__)
    kind.minimize = _minimize
    kind.compute_gradients = _compute_gradients
    kind.get_gradients = _get_gradients
    kind._decayed_lr = lambda self, var_dtype="float32": keras.ops.cast(self.learning_rate, keras_dtype(var_dtype))


def give_old_names_to_loss_scaling() -> None:
    """`LossScaleOptimizer` as Keras 2 had it. Gradients stay scaled until they are applied."""
    kind = keras.optimizers.LossScaleOptimizer
    kind.get_scaled_loss = kind.scale_loss
    kind.get_unscaled_gradients = lambda self, grads: grads
    kind.loss_scale = property(lambda self: self.dynamic_scale)


class _Listed(list[Any]):
    """Variables that were a method's result in Keras 2, and are a property now: both spellings work."""

    def __call__(self) -> list[Any]:
        return list(self)


def keras_dtype(dtype: Any) -> str:
    """A dtype by the name that Keras knows."""
    name: str = keras.backend.standardize_dtype(dtype)
    return name


def _taking_old_arguments(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def init(self: Any, learning_rate: Any = 0.001, *args: Any, **kwargs: Any) -> None:
        learning_rate = kwargs.pop("lr", learning_rate)
        decay = kwargs.pop("decay", None)
        if decay:
            if isinstance(learning_rate, keras.optimizers.schedules.LearningRateSchedule):
                raise ValueError(
                    f"decay={decay} and a schedule as learning rate: the schedule says all. Leave decay out."
                )
            # As Keras 2 had it: lr / (1 + decay * steps).
            learning_rate = keras.optimizers.schedules.InverseTimeDecay(learning_rate, 1, decay)
        original(self, learning_rate, *args, **kwargs)

    return init


def _set_learning_rate(self: Any, value: Any) -> None:
    schedule = keras.optimizers.schedules.LearningRateSchedule
    if isinstance(self._learning_rate, schedule) and not isinstance(value, schedule):
        raise TypeError(FOLLOWS_SCHEDULE.format(value=value))
    self.learning_rate = value


def _compute_gradients(self: Any, loss: Any, var_list: Any, tape: Any = None, grad_loss: Any = None) -> Any:
    """Pairs of gradient and variable. ``loss`` is a function, or a value that ``tape`` saw computed."""
    if callable(loss):
        with GradientTape() as tape:
            loss = loss()
    elif tape is None:
        raise ValueError(NEEDS_TAPE)
    variables = list(var_list() if callable(var_list) else var_list)
    return list(zip(tape.gradient(loss, variables, grad_loss), variables, strict=True))


def _get_gradients(self: Any, loss: Any, params: Any) -> Any:
    raise RuntimeError(
        "optimizer.get_gradients(loss, params) belongs to graphs. Compute the loss inside `with tf.GradientTape() as "
        "tape:` and call tape.gradient(loss, params)."
    )


def _minimize(
    self: Any, loss: Any, var_list: Any, grad_loss: Any = None, name: str | None = None, tape: Any = None
) -> Any:
    """One step: computes gradients and applies them."""
    self.apply_gradients(_compute_gradients(self, loss, var_list, tape, grad_loss))
    return self.iterations
