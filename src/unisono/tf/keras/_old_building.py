"""Subclassed models are built by `build(input_shape)` alone, and weights are loaded into variables that are there."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import h5py
import keras

from unisono._src import keras_hooks

NO_CALL = """{model}.build({shape}) calls the model once on inputs of this shape, and that failed:
    {error}
Call it on a batch instead, model(x); or give the class a `build` that makes its layers."""

NOT_BUILT = """load_weights({path!r}): {model!r} has layers without variables ({names}), which would stay as they are.
Build it first: call it on a batch, model(x), or model.build((None, ...)) with the shape of its input."""


def build_by_calling() -> None:
    """Puts it onto Keras's class. Models with a `build` of their own keep it."""
    keras.Model.build = keras_hooks.make_default_build(_built_by_a_call)
    keras.Model.load_weights = _into_variables(keras.Model.load_weights)


def _built_by_a_call(self: Any, input_shape: Any) -> None:
    if _layers_without_variables(self):
        try:
            keras_hooks.call_on_shapes(self, input_shape)
        except Exception as error:
            text = NO_CALL.format(model=type(self).__name__, shape=input_shape, error=error)
            raise ValueError(text) from error


def _into_variables(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def load_weights(self: Any, filepath: Any, *args: Any, **kwargs: Any) -> Any:
        missing = _layers_without_variables(self)
        if missing and _has_more(filepath, len(self.variables)):
            names = ", ".join(layer.name for layer in missing)
            raise ValueError(NOT_BUILT.format(path=os.fspath(filepath), model=self.name, names=names))
        return original(self, filepath, *args, **kwargs)

    return load_weights


def _has_more(path: Any, number: int) -> bool:
    """Whether there are more arrays in the file than ``number``. Layers that are never called have none there."""
    if not h5py.is_hdf5(path):
        return False
    found: list[str] = []
    with h5py.File(path) as file:
        file.visititems(lambda name, thing: found.append(name) if isinstance(thing, h5py.Dataset) else None)
    return sum(not name.startswith("optimizer") for name in found) > number


def _layers_without_variables(model: Any) -> list[Any]:
    return [layer for layer in model._flatten_layers(include_self=False) if not layer.built]
