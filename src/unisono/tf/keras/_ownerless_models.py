"""Models created outside every scope that Keras's own loop cannot train: they belong to a strategy of one device."""

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
from unisono.tf._composite import CompositeTensor


def adopt_ownerless_models() -> None:
    """From now on such a model belongs to a strategy of one device."""
    keras_hooks.choose_owner.set(_choose_owner)


def _choose_owner(model: Any, arguments: dict[str, Any]) -> Any:
    data = (arguments.get("x"), arguments.get("validation_data"))
    parts = keras.tree.flatten((data, arguments.get("y"), arguments.get("sample_weight")))
    callbacks = arguments.get("callbacks")
    # Keras's own fit cannot restore our backups, and with its TensorBoard it would look for TensorFlow.
    kinds = (BackupAndRestore, keras.callbacks.TensorBoard)
    needs_our_loop = (
        any(isinstance(each, Dataset) for each in data)
        or keras_hooks.runs_on_host(model)
        or any(isinstance(each, CompositeTensor) for each in parts)
        or any(map(keras_hooks.is_text, keras.tree.flatten(data)))
        or any(has_tf_style_step(model, kind) for kind in ("train", "test", "predict"))
        or any(isinstance(each, kinds) for each in (callbacks if isinstance(callbacks, list | tuple) else [callbacks]))
    )
    if not needs_our_loop:
        return None
    # Layers of a model that a strategy trained, in one that was put together outside its scope.
    owners = (keras_hooks.get_owner(variable) for variable in model.variables)
    return next((owner for owner in owners if owner is not None), None) or _default()


@functools.cache
def _default() -> OneDeviceStrategy:
    return OneDeviceStrategy(jax.devices()[0])
