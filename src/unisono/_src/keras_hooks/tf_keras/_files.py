"""Hooks: `model.save("folder")`, `.h5` files as Keras 2 wrote them, and `model.export`.

TensorFlow wrote a SavedModel to a folder; here it holds the model as a `.keras` file, which is written beside its place
and renamed, so that the folder holds a complete model or none. Nothing in it is unpickled.

Checked against Keras 3.15.1: `load_model_from_hdf5` builds the optimizer for `model._trainable_variables`, which are
the variables that a model has beside those of its layers. That is none, and `fit` refuses such an optimizer: so the
file is loaded without compiling, and compiled here. `saving_utils.compile_args_from_training_config` reads what
`compile` was given, `load_optimizer_weights_from_hdf5_group` the optimizer's values in the order of its `variables`.
`save_model` recommends the other format by absl's logger. `export` of Keras needs TensorFlow.
"""

from __future__ import annotations

import contextlib
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import h5py
import keras
import numpy as np
from keras.src.backend.common import global_state
from keras.src.legacy.saving import json_utils, legacy_h5_format, saving_utils

from unisono._src import hooks
from unisono._src.keras_hooks._saving import SAVE_SIGNATURES, is_folder_path
from unisono._src.keras_hooks._whole_values import run_on_chief_with_whole_values
from unisono._src.state.store import staged_file

FILE: Final = "model.keras"

# What TensorFlow's save took besides. The folder has one form only.
_DROPPED: Final = ("save_format", "options", "save_traces")

# Keras 3 writes these into .h5 files, as Keras 2 did, and does not find them again. `compile` knows them.
_SHORT_NAMES: Final = {name: name for name in ("mse", "mae", "mape", "msle", "kld")}

WITHOUT_ENDING = """save({path!r}, save_format={format!r}): a file of this format ends in {ending!r} here, so that
load_model recognises it. Write {path}{ending}."""

SIGNATURES = """save({path!r}, signatures=...): what model.save writes has no signatures here. Write
    tf.saved_model.save(model, {path!r}, signatures=...)
which tf.saved_model.load reads, and model.save into another folder for load_model."""

NO_MODEL = """There is no model in the folder {path!r}. What model.save({path!r}) writes is {path}/{file}.
A SavedModel that TensorFlow wrote cannot be read: save the model as a .keras or .h5 file there, and load that."""

_ADVICE: Final = "This file format is considered legacy"

OTHER_OPTIMIZER = """{path!r} holds {stored} values of its optimizer, and {name} has {here} here: another release wrote
them in another order. The optimizer begins again; {kept}."""


def install_file_formats() -> None:
    """Installs the hooks on what saves and loads models."""
    why = "a path without an ending is a folder, as tf.keras wrote it"
    hooks.wrap(keras.Model, "save", _save_folder, expects=SAVE_SIGNATURES["save"], why=why)
    load = "(filepath, custom_objects=None, compile=True, safe_mode=True)"
    save = "(model, filepath, overwrite=True, zipped=None, **kwargs)"
    hooks.wrap(keras.models, "load_model", _load_folder, expects=load, why=why)
    hooks.patch(keras.saving, "load_model", keras.models.load_model, expects=load, why=why)
    for module in (keras.models, keras.saving):
        hooks.patch(module, "save_model", save_model, expects=save, why=why)
    why = "save_weights of a path that ends in .h5 writes the format of Keras 2"
    hooks.wrap(keras.Model, "save_weights", _save_keras2_weights, expects=SAVE_SIGNATURES["save_weights"], why=why)
    why = "models in .h5 files are compiled with the values of their optimizer"
    group = legacy_h5_format
    hooks.require(group, "save_weights_to_hdf5_group", expects="(group, model)", why=why)
    hooks.require(group, "load_optimizer_weights_from_hdf5_group", expects="(group)", why=why)
    hooks.require(
        saving_utils,
        "compile_args_from_training_config",
        expects="(training_config, custom_objects=None)",
        why=why,
    )
    # Keras's advice to save in another format: scripts that are as they are cannot follow it.
    logging.getLogger("absl").addFilter(lambda record: _ADVICE not in record.getMessage())


def install_export(export_model: Callable[[Any, Any, Any], None]) -> None:
    """Installs the hook on `model.export`: ``export_model(model, path, input_signature)`` writes the folder."""
    hooks.wrap(
        keras.Model,
        "export",
        lambda original: _export(original, export_model),
        expects=SAVE_SIGNATURES["export"],
        why="a model is exported without TensorFlow",
    )


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True, **kwargs: Any
) -> None:
    """Saves the model to a `.keras` or `.h5` file, or to a folder if the path has no such ending."""
    model.save(filepath, overwrite=overwrite, include_optimizer=include_optimizer, **kwargs)


def _save_folder(original: Callable[..., Any]) -> Callable[..., Any]:
    def save(self: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True, **kwargs: Any) -> None:
        if kwargs.pop("signatures", None) is not None:
            raise NotImplementedError(SIGNATURES.format(path=os.fspath(filepath)))
        wanted = kwargs.get("save_format")
        kwargs = {name: value for name, value in kwargs.items() if name not in _DROPPED}
        is_folder = is_folder_path(filepath) and kwargs.get("zipped") is not False
        if is_folder and wanted in ("h5", "keras"):
            raise ValueError(WITHOUT_ENDING.format(path=os.fspath(filepath), format=wanted, ending=f".{wanted}"))
        if is_folder:
            Path(filepath).mkdir(parents=True, exist_ok=True)
            filepath = Path(filepath) / FILE
        if not include_optimizer and os.fspath(filepath).endswith((".h5", ".hdf5")):
            original(self, filepath, overwrite=overwrite, include_optimizer=False, **kwargs)
            return
        with contextlib.nullcontext() if include_optimizer else _uncompiled(self):
            original(self, filepath, overwrite=overwrite, **kwargs)

    return save


@contextlib.contextmanager
def _uncompiled(model: Any) -> Iterator[None]:
    """Inside, the model has no optimizer that would be saved."""
    optimizer, compiled = getattr(model, "optimizer", None), model.compiled
    model.optimizer, model.compiled = None, False
    try:
        yield
    finally:
        model.optimizer, model.compiled = optimizer, compiled


def _load_folder(original: Callable[..., Any]) -> Callable[..., Any]:
    def load_model(
        filepath: Any, custom_objects: Any = None, compile: bool = True, safe_mode: bool = True, options: Any = None
    ) -> Any:
        path = Path(filepath) if isinstance(filepath, str | os.PathLike) else None
        if path is not None and is_folder_path(path) and path.is_dir():
            if (path / FILE).exists():
                filepath = path / FILE
            elif (path / "saved_model.pb").exists() or not any(path.iterdir()):
                raise ValueError(NO_MODEL.format(path=os.fspath(path), file=FILE))
        if path is not None and path.suffix in (".h5", ".hdf5"):
            objects = _SHORT_NAMES | (custom_objects or {})
            model = original(filepath, custom_objects=objects, compile=False, safe_mode=safe_mode)
            if compile:
                _compile_from_h5(model, os.fspath(path), objects)
            return model
        return original(filepath, custom_objects=custom_objects, compile=compile, safe_mode=safe_mode)

    return load_model


def _save_keras2_weights(original: Callable[..., Any]) -> Callable[..., Any]:
    def save_weights(self: Any, filepath: Any, overwrite: bool = True, **kwargs: Any) -> Any:
        name = os.fspath(filepath) if isinstance(filepath, str | os.PathLike) else ""
        if not kwargs.get("max_shard_size") and _is_keras2_weights(name):
            if overwrite or not os.path.exists(name):
                run_on_chief_with_whole_values(self, lambda: _write_keras2_weights(self, name))
                return None
            raise FileExistsError(f"{name} exists, and save_weights was called with overwrite=False.")
        return original(self, filepath, overwrite, **kwargs)

    return save_weights


def _is_keras2_weights(path: str) -> bool:
    return path.endswith((".h5", ".hdf5")) and not path.endswith(".weights.h5")


def _export(original: Callable[..., Any], export_model: Callable[[Any, Any, Any], None]) -> Callable[..., Any]:
    def export(
        self: Any,
        filepath: str | os.PathLike[str],
        format: str = "tf_saved_model",
        verbose: Any = None,
        input_signature: Any = None,
        **kwargs: Any,
    ) -> None:
        """Writes the prediction of a built model as a folder for `tf.saved_model.load`; other formats are Keras's."""
        if format != "tf_saved_model":
            original(self, filepath, format, verbose, input_signature, **kwargs)
            return
        if kwargs:
            raise TypeError(f"export() got unexpected arguments: {', '.join(sorted(kwargs))}.")
        export_model(self, filepath, input_signature)

    return export


def _write_keras2_weights(model: Any, path: str) -> None:
    """Writes the weights in the format of Keras 2, which `load_weights` reads."""
    with staged_file(path) as temporary, h5py.File(temporary, "w") as file:
        legacy_h5_format.save_weights_to_hdf5_group(file, model)


def _compile_from_h5(model: Any, path: str, custom_objects: Mapping[str, Any]) -> None:
    """Compiles a model that was loaded from this file as it was when it was saved, if it was, with the values of its
    optimizer."""
    with h5py.File(path, "r") as file:
        config = file.attrs.get("training_config")
        if config is None:
            return
        text = config.decode() if isinstance(config, bytes) else config
        # Keras's scope of these objects hides those of the scope around it.
        objects = {**global_state.get_global_attribute("custom_objects_scope_dict", {}), **custom_objects}
        model.compile(**saving_utils.compile_args_from_training_config(json_utils.decode(text), objects))
        if "optimizer_weights" in file:
            values = [np.array(each) for each in legacy_h5_format.load_optimizer_weights_from_hdf5_group(file)]
            _restore(model, values, path)


def _restore(model: Any, values: Sequence[Any], path: str) -> None:
    optimizer = model.optimizer
    if not _fits(optimizer.variables, values):
        optimizer.build(model.trainable_variables)
    if _fits(optimizer.variables, values):
        for variable, value in zip(optimizer.variables, values, strict=True):
            variable.assign(value)
        return
    counted = bool(values) and values[0].shape == () and values[0].dtype.kind in "iu"
    if counted:
        optimizer.iterations.assign(values[0])
    if len(values) > counted:
        kept = f"its iterations are {int(values[0])}, as there" if counted else "of its iterations, too"
        numbers = {"stored": len(values), "here": len(optimizer.variables), "name": type(optimizer).__name__}
        warnings.warn(OTHER_OPTIMIZER.format(path=path, kept=kept, **numbers), UserWarning, stacklevel=4)


def _fits(variables: Sequence[Any], values: Sequence[Any]) -> bool:
    return [tuple(each.shape) for each in variables] == [each.shape for each in values]
