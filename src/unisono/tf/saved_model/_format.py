"""The folder of a SavedModel: one of unisono._src.state.store's, whose state says so."""

from __future__ import annotations

import os
from typing import Any, Final

from unisono._src.state import store
from unisono.tf._paths import to_local_path

KIND: Final = "saved_model"
MODEL_FILE: Final = "model.keras"  # what `model.save(folder)` of tf.keras writes into its folder
VERSION: Final = 1

TENSORFLOWS = """tf.saved_model.load: {folder!r} was written by TensorFlow: it holds a graph of TensorFlow's
operations, which only TensorFlow can run. Where TensorFlow is installed, load it there and save the weights, or make
the model here and load those with model.load_weights."""

NOT_ONE = """tf.saved_model.load: {folder!r} is no SavedModel: {reason}"""

NEWER = """tf.saved_model.load: {folder!r} was written by a newer Unisono, in version {version} of the format; this one
reads {known}. Upgrade: pip install -U unisono."""


def read(name: str) -> store.LoadedCheckpoint:
    """The folder, every byte of it checked; an error that says what is wrong."""
    if any(os.path.exists(os.path.join(name, file)) for file in ("saved_model.pb", "saved_model.pbtxt")):
        raise OSError(TENSORFLOWS.format(folder=name))
    if not store.is_committed(name):
        reason = "it has no manifest.json." if os.path.isdir(name) else "there is no such folder."
        raise OSError(NOT_ONE.format(folder=name, reason=reason))
    stored = store.load(name)
    state = stored.state
    if not isinstance(state, dict) or state.get("kind") != KIND:
        raise OSError(NOT_ONE.format(folder=name, reason="it is a checkpoint. Use tf.train.Checkpoint(...).restore."))
    if state["version"] > VERSION:
        raise OSError(NEWER.format(folder=name, version=state["version"], known=VERSION))
    return stored


def contains_saved_model(export_dir: Any) -> bool:
    """Whether the folder is a SavedModel, or a model that `model.save(folder)` wrote.

    >>> contains_saved_model("nowhere")
    False
    """
    folder = to_local_path(export_dir, "tf.saved_model.contains_saved_model")
    if os.path.isfile(os.path.join(folder, MODEL_FILE)):
        return True
    try:
        read(folder)
    except (OSError, store.CheckpointError):
        return False
    return True
