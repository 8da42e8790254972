"""The folder of a SavedModel, a committed folder of the store whose state has the kind "saved_model"; TensorFlow's
constants."""

from __future__ import annotations

import os
from typing import Any, Final

from unisono._src.state import store
from unisono.tf._paths import to_local_path
from unisono_launch._install_command import upgrade_command

# Names of TensorFlow's API.
DEFAULT_SERVING_SIGNATURE_DEF_KEY: Final = "serving_default"
SERVING: Final = "serve"
TRAINING: Final = "train"
GPU: Final = "gpu"
TPU: Final = "tpu"
PREDICT_INPUTS: Final = "inputs"
PREDICT_OUTPUTS: Final = "outputs"
PREDICT_METHOD_NAME: Final = "tensorflow/serving/predict"

KIND: Final = "saved_model"
MODEL_FILE: Final = "model.keras"  # what `model.save(folder)` of tf.keras writes into its folder
VERSION: Final = 1

WRITTEN_BY_TENSORFLOW = """tf.saved_model.load: {folder!r} was written by TensorFlow: its graph of TensorFlow's
operations needs TensorFlow to run. Load it with TensorFlow and save the weights there; then create the model
here and load them with model.load_weights."""

NOT_A_SAVED_MODEL = """tf.saved_model.load: {folder!r} is not a SavedModel: {reason}"""

NEWER_FORMAT = """tf.saved_model.load: {folder!r} has version {version} of the format, written by a newer Unisono.
Expected at most {known}. Upgrade: {upgrade}"""


def read_saved_model(name: str) -> store.LoadedCheckpoint:
    """Reads the folder and verifies its checksums; OSError if it is not a SavedModel."""
    if any(os.path.exists(os.path.join(name, file)) for file in ("saved_model.pb", "saved_model.pbtxt")):
        raise OSError(WRITTEN_BY_TENSORFLOW.format(folder=name))
    if not store.is_committed(name):
        reason = "it has no manifest.json." if os.path.isdir(name) else "there is no such folder."
        raise OSError(NOT_A_SAVED_MODEL.format(folder=name, reason=reason))
    stored = store.load(name)
    state = stored.state
    if not isinstance(state, dict) or state.get("kind") != KIND:
        raise OSError(
            NOT_A_SAVED_MODEL.format(folder=name, reason="it is a checkpoint. Use tf.train.Checkpoint(...).restore.")
        )
    if state["version"] > VERSION:
        raise OSError(
            NEWER_FORMAT.format(folder=name, version=state["version"], known=VERSION, upgrade=upgrade_command())
        )
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
        read_saved_model(folder)
    except (OSError, store.CheckpointError):
        return False
    return True
