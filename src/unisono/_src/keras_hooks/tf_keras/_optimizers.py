"""Hooks: optimizers with the names of Keras 2: `lr`, `decay`, `get_weights`, `minimize`.

Checked against Keras 3.15.1.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras.src.optimizers.base_optimizer import BaseOptimizer

from unisono._src import hooks

NEEDS_TAPE = """minimize() was given a loss that is computed already, and no tape. Pass the tape that recorded it, as
tape=tape, or a function without arguments that computes it."""

FOLLOWS_SCHEDULE = """optimizer.lr = {value}: this optimizer was made with a schedule, which decides its rate. Make it
with a number, SGD(learning_rate=0.1), to set the rate later."""


_INIT = (
    "(self, learning_rate, weight_decay=None, clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False, "
    "ema_momentum=0.99, ema_overwrite_frequency=None, loss_scale_factor=None, gradient_accumulation_steps=None, "
    "name=None, **kwargs)"
)


def install_optimizer_names(make_tape: Callable[[], Any]) -> None:
    """Installs the hooks on Keras's classes, so that optimizers made by stock `keras` have the names too.

    ``make_tape`` makes a gradient tape. Gradients of `LossScaleOptimizer` stay scaled until they are applied.
    """
    kind, why = keras.optimizers.Optimizer, "scripts use the names of Keras 2"
    hooks.wrap(kind, "__init__", _accept_keras2_arguments, expects=_INIT, why=why, inherited=True)
    hooks.wrap(
        kind,
        "variables",
        lambda original: property(lambda self: _CallableList(original.fget(self)), doc=original.__doc__),
        expects="source 98dc2f540156",
        why="optimizer.variables() was a method in Keras 2",
        inherited=True,
    )
    hooks.wrap(
        BaseOptimizer,
        "_backend_update_step",
        _decay_learning_rate,
        expects="(self, grads, trainable_variables, learning_rate)",
        why="SGD(decay=...) of Keras 2: the rate can be set, and the rate of a step is lower",
    )
    hooks.wrap(BaseOptimizer, "get_config", _add_decay, expects="(self)", why="SGD(decay=...) of Keras 2 is saved")
    added = {
        "lr": property(lambda self: self.learning_rate, _set_learning_rate),
        "weights": property(lambda self: self.variables),
        "get_weights": lambda self: [np.asarray(variable) for variable in self.variables],
        "minimize": functools.partialmethod(_minimize, make_tape),
        "compute_gradients": functools.partialmethod(_compute_gradients, make_tape),
        "get_gradients": _get_gradients,
        "_decayed_lr": _decayed_lr,
    }
    for name, value in added.items():
        hooks.add(kind, name, value, why=why)
    scaling = keras.optimizers.LossScaleOptimizer
    hooks.add(scaling, "get_scaled_loss", scaling.scale_loss, why=why)
    hooks.add(scaling, "get_unscaled_gradients", lambda self, grads: grads, why=why)
    hooks.add(scaling, "loss_scale", property(lambda self: self.dynamic_scale), why=why)


def _decayed_lr(self: Any, var_dtype: Any = "float32") -> Any:
    rate = _decayed(self, keras.ops.convert_to_tensor(self.learning_rate))
    return keras.ops.cast(rate, keras.backend.standardize_dtype(var_dtype))


class _CallableList(list[Any]):
    """Variables that were a method's result in Keras 2, and are a property now: both spellings work."""

    def __call__(self) -> list[Any]:
        return list(self)


def _accept_keras2_arguments(original: Callable[..., None]) -> Callable[..., None]:
    def init(self: Any, learning_rate: Any = 0.001, *args: Any, **kwargs: Any) -> None:
        learning_rate = kwargs.pop("lr", learning_rate)
        decay = kwargs.pop("decay", None)
        if decay and isinstance(learning_rate, keras.optimizers.schedules.LearningRateSchedule):
            raise ValueError(f"decay={decay} and a schedule as learning rate: the schedule decides. Leave decay out.")
        original(self, learning_rate, *args, **kwargs)
        if decay:
            self.decay = float(decay)

    return init


def _decay_learning_rate(original: Callable[..., None]) -> Callable[..., None]:
    def update_step(self: Any, grads: Any, trainable_variables: Any, learning_rate: Any) -> None:
        original(self, grads, trainable_variables, _decayed(self, learning_rate))

    return update_step


def _decayed(optimizer: Any, learning_rate: Any) -> Any:
    """The rate of this step: with `decay`, Keras 2 divides it by 1 + decay * steps. `optimizer.lr` stays as it was set,
    so that callbacks such as ReduceLROnPlateau can change it."""
    decay = getattr(optimizer, "decay", None)
    if not decay:
        return learning_rate
    return learning_rate / (1.0 + decay * keras.ops.cast(optimizer.iterations, "float32"))


def _add_decay(original: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    def get_config(self: Any) -> dict[str, Any]:
        decay = getattr(self, "decay", None)
        return original(self) | ({"decay": decay} if decay else {})

    return get_config


def _set_learning_rate(self: Any, value: Any) -> None:
    schedule = keras.optimizers.schedules.LearningRateSchedule
    if isinstance(self._learning_rate, schedule) and not isinstance(value, schedule):
        raise TypeError(FOLLOWS_SCHEDULE.format(value=value))
    self.learning_rate = value


def _compute_gradients(
    self: Any, make_tape: Callable[[], Any], loss: Any, var_list: Any, tape: Any = None, grad_loss: Any = None
) -> Any:
    """Pairs of gradient and variable. ``loss`` is a function, or a value whose computation ``tape`` recorded."""
    if callable(loss):
        with make_tape() as tape:
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
    self: Any,
    make_tape: Callable[[], Any],
    loss: Any,
    var_list: Any,
    grad_loss: Any = None,
    name: str | None = None,
    tape: Any = None,
) -> Any:
    """One step: computes gradients and applies them."""
    self.apply_gradients(_compute_gradients(self, make_tape, loss, var_list, tape, grad_loss))
    return self.iterations
