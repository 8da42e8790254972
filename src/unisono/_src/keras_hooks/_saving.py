"""Hook: how models write files. Of several processes only the chief writes; a file is there completely or not at all.

Checked against Keras 3.15.1: `save`, `save_weights`, `load_weights` and `export` of `keras.Model` are what users and
callbacks call; `save_weights` refuses every path that does not end in `.weights.h5`. `ModelCheckpoint` decides in
`_should_save_model`, makes the path in `_get_file_path`, and does both and the saving in `_save_model`.

Other processes would write into the same files. They have nothing to add, unless variables are sharded over processes:
then they take part in every read of one (`_whole_values.py`).
Models that belong to no strategy keep Keras's own, except for paths that Keras refuses.
"""

from __future__ import annotations

import abc
import functools
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import keras
from keras.src.utils import io_utils

from unisono._src import hooks
from unisono._src.keras_hooks._attributes import get_owner
from unisono._src.keras_hooks._whole_values import (
    has_variables_sharded_over_processes,
    run_on_chief_with_whole_values,
)
from unisono._src.state.store import is_committed, is_url, staged_file

# As in tf.keras, which took every other name for one of its checkpoints.
_SUFFIXES: Final = (".keras", ".h5", ".hdf5", ".weights.json")
_ONE_FILE: Final = (".keras", ".h5", ".hdf5")
_MODEL_HUBS: Final = ("hf://", "kaggle://")  # Keras loads presets from there

NO_PATH = """load_weights: the path is None. `latest_checkpoint(folder)` returns None if the folder has no checkpoint.
Check its name, or load only if there is one:
    if path is not None:
        model.load_weights(path)"""

NO_EXPORT = """{name!r} cannot be exported here: its weights are sharded over processes, and an exported program has
them whole. Write model.save("model.keras"), and export the model that keras.models.load_model loads in one process."""

SAVE_SIGNATURES: Final = {
    "save": "(self, filepath, overwrite=True, zipped=None, **kwargs)",
    "save_weights": "(self, filepath, overwrite=True, max_shard_size=None)",
    "load_weights": "(self, filepath, skip_mismatch=False, **kwargs)",
    "export": "(self, filepath, format='tf_saved_model', verbose=None, input_signature=None, **kwargs)",
}
"""Those of `keras.Model`'s methods."""


@dataclass(frozen=True, kw_only=True)
class WeightsFolders:
    """What is done with paths such as `ckpt_3`, at which there is a folder. Both take the model and the path.

    Attributes:
        save: writes the folder. Called on every process.
        load: returns what `load_weights` returns.
    """

    save: Callable[[Any, str], None]
    load: Callable[..., Any]


def install_chief_only_writes() -> None:
    """Installs the hook on what writes."""
    why = "of several processes only the chief writes, and a file is there completely or not at all"
    for name in ("save", "save_weights"):
        hooks.wrap(
            keras.Model,
            name,
            lambda original: _on_chief(_write_atomically(original)),
            expects=SAVE_SIGNATURES[name],
            why=why,
        )
    hooks.wrap(keras.Model, "export", _export_on_chief, expects=SAVE_SIGNATURES["export"], why=why)
    why = "ScheduledCheckpoint decides as ModelCheckpoint does"
    hooks.require(
        keras.callbacks.ModelCheckpoint, "_save_model", expects="calls _get_file_path._should_save_model", why=why
    )
    hooks.require(
        keras.callbacks.ModelCheckpoint, "_should_save_model", expects="(self, epoch, batch, logs, filepath)", why=why
    )
    hooks.require(keras.callbacks.ModelCheckpoint, "_get_file_path", expects="(self, epoch, batch, logs)", why=why)


def install_weights_folders(folders: WeightsFolders) -> None:
    """Installs the hook on paths without a file's ending: `save_weights("ckpt_3")`, `load_weights("ckpt_3")`."""
    why = "weights can be saved as a folder of a checkpoint, as tf.keras did"
    hooks.wrap(
        keras.Model,
        "save_weights",
        lambda original: _save_folders(original, folders),
        expects=SAVE_SIGNATURES["save_weights"],
        why=why,
    )
    hooks.wrap(
        keras.Model,
        "load_weights",
        lambda original: _load_folders(original, folders),
        expects=SAVE_SIGNATURES["load_weights"],
        why=why,
    )


def is_folder_path(path: Any) -> bool:
    """Whether weights saved to ``path`` become a folder: it has none of Keras's endings, and is no model hub.

    >>> [is_folder_path(path) for path in ("ckpt_3", "cp-{epoch:04d}.ckpt", "3.weights.h5", "model.keras")]
    [True, True, False, False]
    >>> [is_folder_path(path) for path in ("gs://bucket/ckpt_3", "gs://bucket/model.keras", "hf://user/model")]
    [True, False, False]
    """
    if not isinstance(path, str | os.PathLike):
        return False
    name = os.fspath(path)
    return isinstance(name, str) and not name.startswith(_MODEL_HUBS) and not name.endswith(_SUFFIXES)


class ScheduledCheckpoint(keras.callbacks.ModelCheckpoint, abc.ABC):
    """Keras's decisions when to save and under which name. Subclasses define how, in :meth:`write`."""

    @abc.abstractmethod
    def write(self, path: str) -> None:
        """Saves the model. Called on every process."""

    def _save_model(self, epoch: int, batch: int | None, logs: Any) -> None:
        if self.save_best_only and self.monitor_op is None:  # Keras sets it when an epoch ends: too late for a batch
            self._set_monitor_op()
        path = self._get_file_path(epoch, batch, logs or {})
        if self._should_save_model(epoch, batch, logs, path):
            self.write(path)
            if self.verbose > 0:
                io_utils.print_msg(f"\nEpoch {epoch + 1}: finished saving model to {path}")


def _on_chief(original: Any) -> Any:
    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return run_on_chief_with_whole_values(self, lambda: original(self, *args, **kwargs))

    return method


def _export_on_chief(original: Any) -> Any:
    method = _on_chief(original)

    @functools.wraps(original)
    def export(self: Any, *args: Any, **kwargs: Any) -> Any:
        if has_variables_sharded_over_processes(self):
            raise NotImplementedError(NO_EXPORT.format(name=self.name))
        return method(self, *args, **kwargs)

    return export


def _write_atomically(original: Any) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        arguments = signature.bind(self, *args, **kwargs).arguments
        if get_owner(self) is None or not _is_one_file(arguments):
            return original(self, *args, **kwargs)
        path = os.path.realpath(arguments["filepath"])  # a link stays one
        if not arguments.get("overwrite", True) and os.path.exists(path):
            if not io_utils.ask_to_proceed_with_overwrite(path):
                return None
            arguments["overwrite"] = True
        with staged_file(path) as temporary:
            arguments["filepath"] = os.fspath(temporary)
            keywords = {name: value for name, value in arguments.items() if name not in ("self", "kwargs")}
            return original(self, **keywords, **arguments.get("kwargs", {}))

    return method


def _is_one_file(arguments: dict[str, Any]) -> bool:
    """Not so for `save(zipped=False)` and `save_weights(max_shard_size=...)`, and not for addresses."""
    path = arguments["filepath"]
    if not isinstance(path, str | os.PathLike) or os.path.isdir(path):
        return False
    name = os.fspath(path)
    is_split = arguments.get("zipped") is False or arguments.get("max_shard_size") is not None
    return isinstance(name, str) and "://" not in name and name.endswith(_ONE_FILE) and not is_split


def _exists(path: str) -> bool:
    return is_committed(path) if is_url(path) else os.path.exists(path)


def _save_folders(original: Any, folders: WeightsFolders) -> Any:
    def save_weights(self: Any, filepath: Any, overwrite: bool = True, *args: Any, **kwargs: Any) -> Any:
        # tf.keras had these two; the path tells the same.
        legacy = {name: kwargs.pop(name) for name in ("save_format", "options") if name in kwargs}
        if args or kwargs or not is_folder_path(filepath) or legacy.get("save_format") not in (None, "tf"):
            return original(self, filepath, overwrite, *args, **kwargs)
        path = os.fspath(filepath)
        if overwrite or not _exists(path) or io_utils.ask_to_proceed_with_overwrite(path):
            folders.save(self, path)
        return None

    return save_weights


def _load_folders(original: Any, folders: WeightsFolders) -> Any:
    def load_weights(self: Any, filepath: Any, skip_mismatch: bool = False, **kwargs: Any) -> Any:
        if filepath is None:
            raise TypeError(NO_PATH)
        # What is there and not ours may be one of Orbax's folders.
        ours = is_folder_path(filepath) and (is_url(filepath) or not os.path.exists(filepath) or is_committed(filepath))
        if kwargs or not ours:
            return original(self, filepath, skip_mismatch=skip_mismatch, **kwargs)
        return folders.load(self, os.fspath(filepath), skip_mismatch=skip_mismatch)

    return load_weights
