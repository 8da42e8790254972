"""Keras's callbacks as scripts for Keras 2 know them: schedules that return tensors, `history.history["lr"]`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import jax
import keras
import numpy as np

_OLD: Final = {"lr": "learning_rate"}


def give_old_names() -> None:
    """Puts them onto Keras's classes, so that those made by stock `keras` have them too."""
    scheduler = keras.callbacks.LearningRateScheduler
    plain_init = scheduler.__init__

    @functools.wraps(plain_init)
    def init(self: Any, schedule: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        plain_init(self, _giving_numbers(schedule), *args, **kwargs)

    scheduler.__init__ = init
    keras.callbacks.History.history = property(_history, _set_history, doc="The logs of all epochs, by name.")


class Logs(dict[str, Any]):
    """What a History holds. It can be asked by Keras 2's name, "lr", which is not among its keys."""

    def __missing__(self, name: str) -> Any:
        return super().__getitem__(_OLD[name])  # a KeyError with the name that was asked for, or with the new one

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or super().__contains__(_OLD.get(str(name)))

    def get(self, name: str, default: Any = None) -> Any:
        """The logs of this name, or ``default``."""
        return super().get(name, super().get(_OLD.get(name, name), default))


def _history(self: Any) -> Any:
    return vars(self)["history"]


def _set_history(self: Any, logs: dict[str, Any]) -> None:
    vars(self)["history"] = Logs(logs)


def _giving_numbers(schedule: Callable[..., Any]) -> Callable[..., Any]:
    """The schedule, returning Python's numbers, which Keras insists on, where it returns tensors of one number."""

    def number(*args: Any) -> Any:
        rate = schedule(*args)
        if isinstance(rate, keras.Variable):
            rate = rate.value
        one = isinstance(rate, np.ndarray | np.generic | jax.Array) and rate.size == 1
        return float(rate.reshape(())) if one else rate

    return number
