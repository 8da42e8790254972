"""Models that were made outside of every scope, and that Keras's own loop could not train: ours does, on one device."""

from __future__ import annotations

import functools
from typing import Any

import jax
import keras

from unisono._src import keras_hooks
from unisono._src.data.dataset import Dataset
from unisono._src.strategy import OneDeviceStrategy
from unisono._src.training import has_tf_style_step
from unisono._src.training.callbacks import BackupAndRestore


def adopt_strays() -> None:
    """Puts it into force."""
    keras_hooks.choose_owner.set(_owner_for)


def _owner_for(model: Any, arguments: dict[str, Any]) -> Any:
    data = (arguments.get("x"), arguments.get("validation_data"))
    callbacks = arguments.get("callbacks")
    # Keras's own fit knows nothing of our backups, and with its TensorBoard it would look for TensorFlow.
    kinds = (BackupAndRestore, keras.callbacks.TensorBoard)
    needs_us = (
        any(isinstance(each, Dataset) for each in data)
        or keras_hooks.runs_on_host(model)
        or any(map(keras_hooks.is_text, keras.tree.flatten(data)))
        or any(has_tf_style_step(model, kind) for kind in ("train", "test", "predict"))
        or any(isinstance(each, kinds) for each in (callbacks if isinstance(callbacks, list | tuple) else [callbacks]))
    )
    if not needs_us:
        return None
    # Layers of a model that a strategy trained, in one that was put together outside of its scope.
    owners = (keras_hooks.get_owner(variable) for variable in model.variables)
    return next((owner for owner in owners if owner is not None), None) or _default()


@functools.cache
def _default() -> OneDeviceStrategy:
    return OneDeviceStrategy(jax.devices()[0])
