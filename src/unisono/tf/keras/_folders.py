"""`model.save("folder")`: TensorFlow wrote a SavedModel there. Here it is a folder with the model as a `.keras` file.

The file is written beside its place and renamed, so that the folder holds a complete model or none. Nothing in it is
unpickled.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import keras

from unisono._src import keras_hooks

FILE: Final = "model.keras"

# What TensorFlow's save took besides. The folder has one form only.
_DROPPED: Final = ("save_format", "options", "save_traces")

# Keras 3 writes these into .h5 files, as Keras 2 did, and does not find them again. `compile` knows them.
_SHORT_NAMES: Final = {name: name for name in ("mse", "mae", "mape", "msle", "kld")}

WITHOUT_ENDING = """save({path!r}, save_format={format!r}): a file of this format ends in {ending!r} here, so that
load_model knows it. Write {path}{ending}."""

SIGNATURES = """save({path!r}, signatures=...): what model.save writes has no signatures here. Write
    tf.saved_model.save(model, {path!r}, signatures=...)
which tf.saved_model.load reads, and model.save into another folder for load_model."""

NO_MODEL = """There is no model in the folder {path!r}. What model.save({path!r}) writes is {path}/{file}.
A SavedModel that TensorFlow wrote cannot be read: save the model as a .keras or .h5 file there, and load that."""


def save_folders() -> None:
    """Puts it onto Keras's `Model.save`, `save_weights` and `load_model`."""
    keras.Model.save = _saving(keras.Model.save)
    keras.Model.save_weights = _saving_old_weights(keras.Model.save_weights)
    load = _loading(keras.models.load_model)
    keras.models.load_model = keras.saving.load_model = load
    keras.models.save_model = keras.saving.save_model = save_model
    keras_hooks.silence_format_advice()


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True, **kwargs: Any
) -> None:
    """Saves the model to a `.keras` or `.h5` file, or to a folder if the path has no such ending."""
    model.save(filepath, overwrite=overwrite, include_optimizer=include_optimizer, **kwargs)


def _saving(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def save(self: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True, **kwargs: Any) -> None:
        if kwargs.pop("signatures", None) is not None:
            raise NotImplementedError(SIGNATURES.format(path=os.fspath(filepath)))
        wanted = kwargs.get("save_format")
        kwargs = {name: value for name, value in kwargs.items() if name not in _DROPPED}
        is_folder = keras_hooks.is_folder_path(filepath) and kwargs.get("zipped") is not False
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


def _loading(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def load_model(
        filepath: Any, custom_objects: Any = None, compile: bool = True, safe_mode: bool = True, options: Any = None
    ) -> Any:
        path = Path(filepath) if isinstance(filepath, str | os.PathLike) else None
        if path is not None and keras_hooks.is_folder_path(path) and path.is_dir():
            if (path / FILE).exists():
                filepath = path / FILE
            elif (path / "saved_model.pb").exists() or not any(path.iterdir()):
                raise ValueError(NO_MODEL.format(path=os.fspath(path), file=FILE))
        if path is not None and path.suffix in (".h5", ".hdf5"):
            objects = _SHORT_NAMES | (custom_objects or {})
            model = original(filepath, custom_objects=objects, compile=False, safe_mode=safe_mode)
            if compile:
                keras_hooks.compile_from_h5(model, os.fspath(path), objects)
            return model
        return original(filepath, custom_objects=custom_objects, compile=compile, safe_mode=safe_mode)

    return load_model


def _saving_old_weights(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def save_weights(self: Any, filepath: Any, overwrite: bool = True, **kwargs: Any) -> Any:
        name = os.fspath(filepath) if isinstance(filepath, str | os.PathLike) else ""
        if not kwargs.get("max_shard_size") and _is_old_weights(name):
            if overwrite or not os.path.exists(name):
                if keras_hooks.writes_files(self):
                    keras_hooks.save_keras2_weights(self, name)
                return None
            raise FileExistsError(f"{name} is there, and save_weights was told overwrite=False.")
        return original(self, filepath, overwrite, **kwargs)

    return save_weights


def _is_old_weights(path: str) -> bool:
    return path.endswith((".h5", ".hdf5")) and not path.endswith(".weights.h5")
