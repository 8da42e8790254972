"""Hooks: callbacks as in Keras 2: schedules that return tensors, `history.history["lr"]`.

Checked against Keras 3.15.1: a schedule must return a Python number; `History` sets `history` in `on_train_begin`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
import keras
import numpy as np

from unisono._src import hooks

_KERAS2_NAMES: Final = {"lr": "learning_rate"}


def install_callback_names() -> None:
    """Installs the hooks on Keras's classes, so that callbacks made by stock `keras` have them too."""
    scheduler, why = keras.callbacks.LearningRateScheduler, "schedules may return tensors, as in Keras 2"
    hooks.wrap(scheduler, "__init__", _accept_tensors, expects="(self, schedule, verbose=0)", why=why)
    history, why = keras.callbacks.History, 'history.history["lr"], as in Keras 2'
    hooks.require(history, "history", expects="instance attribute", why=why)
    doc = "The logs of all epochs, by name."
    hooks.add(history, "history", property(_history, _set_history, doc=doc), why=why)


def _accept_tensors(original: Any) -> Any:
    def init(self: Any, schedule: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        original(self, _to_number(schedule), *args, **kwargs)

    return init


class HistoryLogs(dict[str, Any]):
    """What a History holds. It can be asked by Keras 2's name, "lr", which is not among its keys."""

    def __missing__(self, name: str) -> Any:
        return super().__getitem__(
            _KERAS2_NAMES[name]
        )  # a KeyError with the name that was asked for, or with the new one

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or super().__contains__(_KERAS2_NAMES.get(str(name)))

    def get(self, name: str, default: Any = None) -> Any:
        """The logs of this name, or ``default``."""
        return super().get(name, super().get(_KERAS2_NAMES.get(name, name), default))


def _history(self: Any) -> Any:
    return vars(self)["history"]


def _set_history(self: Any, logs: dict[str, Any]) -> None:
    vars(self)["history"] = HistoryLogs(logs)


def _to_number(schedule: Callable[..., Any]) -> Callable[..., Any]:
    """The schedule, returning Python's numbers, which Keras insists on, where it returns tensors of one element."""

    def number(*args: Any) -> Any:
        rate = schedule(*args)
        if isinstance(rate, keras.Variable):
            rate = rate.value
        one = isinstance(rate, np.ndarray | np.generic | jax.Array) and rate.size == 1
        return float(rate.reshape(())) if one else rate

    return number
