"""Hooks: `build(input_shape)` alone builds a subclassed model; weights are loaded into variables that exist.

Checked against Keras 3.15.1: a `build` with the attribute `_is_default` is not taken for a user-defined one; a layer
that is called notes it in `_called`, builds what is inside it by a symbolic call, and then calls `build`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import h5py
import keras
from keras.src import backend, utils

from unisono._src import hooks
from unisono._src.keras_hooks._saving import SAVE_SIGNATURES

NO_CALL = """{model}.build({shape}) calls the model once on inputs of this shape, and that failed:
    {error}
Call it on a batch instead, model(x); or give the class a `build` that makes its layers."""

NOT_BUILT = """load_weights({path!r}): {model!r} has layers without variables ({names}), which would stay as they are.
Build it first: call it on a batch, model(x), or model.build((None, ...)) with the shape of its input."""


def install_build_by_calling() -> None:
    """Installs the hooks. Models with a user-defined `build` keep it."""
    why = "model.build(input_shape) builds a subclassed model without a `build`"
    hooks.wrap(keras.Model, "build", _build_by_default, expects="(self, input_shape)", why=why, inherited=True)
    hooks.require(keras.Model, "_called", expects="instance attribute", why=why)
    hooks.require(utils, "is_default", expects="(method)", why=why)
    why = "load_weights refuses a model that is not built, and would stay as it is"
    hooks.wrap(keras.Model, "load_weights", _check_built, expects=SAVE_SIGNATURES["load_weights"], why=why)


def _build_by_default(original: Any) -> Any:
    """A `build(self, input_shape)` for models that have none.

    It is not for `super().build` in a user-defined one, nor for models that are built because they are called.
    """

    def build(self: Any, input_shape: Any) -> None:
        self._check_super_called()
        if utils.is_default(self.build) and not self._called:
            _build_by_call(self, input_shape)
            self.built = True
        else:
            original(self, input_shape)

    build._is_default = True  # type: ignore[attr-defined]
    return build


def _call_on_shapes(model: Any, input_shape: Any) -> None:
    """Calls `model.call`, without its results, on symbolic inputs: one for each shape in the nest ``input_shape``."""
    inputs = keras.tree.map_shape_structure(backend.KerasTensor, input_shape)
    training = {"training": False} if model._call_has_training_arg else {}
    backend.compute_output_spec(model.call, inputs, **training)


def _build_by_call(self: Any, input_shape: Any) -> None:
    if _layers_without_variables(self):
        try:
            _call_on_shapes(self, input_shape)
        except Exception as error:
            text = NO_CALL.format(model=type(self).__name__, shape=input_shape, error=error)
            raise ValueError(text) from error


def _check_built(original: Callable[..., Any]) -> Callable[..., Any]:
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
