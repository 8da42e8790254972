"""Weights of a model as a folder: what `save_weights("ckpt_3")` writes, as tf.keras did for such a path.

It is a checkpoint of `unisono.checkpoint` with one object, `model`: the weights, and what the optimizer keeps if the
model has been trained. `load_weights` also reads the checkpoints that a `Checkpoint(model=..., optimizer=...)` or `fit`
has written, and uses the same part of them. Seeds and metrics are not weights, and stay as they are.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from unisono._src.core import warn_user
from unisono._src.keras_hooks import WeightsFolders, get_owner, raw_value
from unisono._src.processes import processes
from unisono._src.replicas import context
from unisono._src.state.checkpoint import (
    CheckpointMismatch,
    CheckpointWriter,
    LoadStatus,
    Snapshot,
    abbreviate_names,
    apply_snapshot,
    copy_values,
    describe_mismatch,
    load_via_chief,
    named_variables,
)
from unisono._src.state.store import (
    BadCheckpoint,
    LoadedCheckpoint,
    Location,
    commit,
    is_committed,
    is_url,
    list_checkpoints,
    open_checkpoint,
    to_location,
)

_METRICS: Final = "model/metrics/"
_OPTIMIZER: Final = "model/optimizer/"

NO_WEIGHTS = """{model!r} has no weights yet, so there is nothing to save.
Build it first: model.build(input_shape), begin it with keras.Input(shape), or call it on a batch."""

TENSORFLOW_FORMAT = """it is a TensorFlow checkpoint ({index!r} exists), which cannot be read without TensorFlow.
Load it there, and save it as a file that ends in '.weights.h5'."""

NO_SUCH_FOLDER = """there is no such folder. In {parent!r} there are: {names}."""

UNUSED_VALUES = """The checkpoint {path!r} does not fit {model!r}: it has values without a variable: {names}.
Build the model as it was when it was saved, or pass skip_mismatch=True to load what fits."""

OTHER_OPTIMIZER = """The checkpoint {path!r} was written with another optimizer than {model!r} is compiled with.
The weights are loaded; the optimizer starts from its initial state."""

SKIPPED = """skip_mismatch=True: of the checkpoint {path!r} these do not fit {model!r} and are left out: {names}."""


def save_weights_folder(model: Any, path: str) -> None:
    """Writes the weights of ``model`` to the folder ``path``. Called on every process: the chief writes what every
    process has, and each its own pieces of weights that are sharded over processes."""
    if not model.weights:
        raise ValueError(NO_WEIGHTS.format(model=model.name))
    optimizer: Any = getattr(model, "optimizer", None)
    is_built = optimizer is not None and optimizer.built
    variables = _weights(model) | (_optimizer_variables(model) if is_built else {})
    values = {name: raw_value(variable) for name, variable in variables.items()}
    snapshot = Snapshot(copy_values(values), None)
    step = int(np.asarray(optimizer.iterations)) if is_built else 0
    if snapshot.in_parts:
        CheckpointWriter().write(snapshot, step, lambda: to_location(path))
    elif processes().is_chief:  # without the others, which may not have called this
        commit(path, arrays=snapshot.arrays, step=step)


def load_weights_folder(model: Any, path: str, *, skip_mismatch: bool = False) -> LoadStatus:
    """Loads the folder ``path`` into ``model``: every weight gets a value, and every value is used.

    With several processes all have to call it.
    """
    read = load_via_chief(lambda: _load(path))
    assert read is not None
    arrays = _match_optimizer(model, _select_model_arrays(read.arrays), path)
    named, seeds = _named(model), _seeds(model)
    wrong = [name for name in arrays if name not in named]
    if skip_mismatch:
        wrong += [name for name in arrays if name in named and describe_mismatch(name, named[name], arrays[name])]
        wrong += [name for name in _weights(model) if name not in arrays]
        if wrong:
            warn_user(SKIPPED.format(path=path, model=model.name, names=abbreviate_names(wrong)))
        arrays = {name: array for name, array in arrays.items() if name not in wrong}
    elif wrong and model.built:
        raise CheckpointMismatch(UNUSED_VALUES.format(path=path, model=model.name, names=abbreviate_names(wrong)))
    values = arrays | {name: np.array(raw_value(seed)) for name, seed in seeds.items()}
    strict = False if skip_mismatch else None
    return apply_snapshot({"model": model}, replace(read, arrays=values, state=None), strict)


WEIGHTS_FOLDERS: Final = WeightsFolders(save=save_weights_folder, load=load_weights_folder)


def _named(model: Any) -> dict[str, Any]:
    return named_variables({"model": model})


def _weights(model: Any) -> dict[str, Any]:
    weights = {id(weight) for weight in model.weights}
    return {name: variable for name, variable in _named(model).items() if id(variable) in weights}


def _optimizer_variables(model: Any) -> dict[str, Any]:
    return {name: variable for name, variable in _named(model).items() if name.startswith(_OPTIMIZER)}


def _seeds(model: Any) -> dict[str, Any]:
    known = {*_weights(model), *_optimizer_variables(model)}
    return {
        name: variable
        for name, variable in _named(model).items()
        if name not in known and not name.startswith(_METRICS)
    }


def _load(path: str) -> LoadedCheckpoint:
    folder: Location = to_location(path) if is_url(path) else Path(path)
    index = Path(f"{folder}.index")
    if not is_url(path) and index.exists():
        raise BadCheckpoint(folder, TENSORFLOW_FORMAT.format(index=os.fspath(index)))
    if not is_committed(folder):
        names = abbreviate_names(sorted(each.name for each in list_checkpoints(folder.parent)))
        raise BadCheckpoint(folder, NO_SUCH_FOLDER.format(parent=str(folder.parent), names=names or "none"))
    return open_checkpoint(folder)


def _select_model_arrays(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays of the model and its optimizer, without metrics."""
    renamed = {f"model/{name}" if name.startswith("optimizer/") else name: array for name, array in arrays.items()}
    return {
        name: array for name, array in renamed.items() if name.startswith("model/") and not name.startswith(_METRICS)
    }


def _match_optimizer(model: Any, arrays: dict[str, Any], path: str) -> dict[str, Any]:
    """``arrays``, with the optimizer's values only if the model has such an optimizer, as with Keras's files."""
    saved = {name for name in arrays if name.startswith(_OPTIMIZER)}
    without = {name: array for name, array in arrays.items() if name not in saved}
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None or not saved:
        return without
    if saved != set(_optimizer_variables(model)) and not optimizer.built:
        owner = get_owner(model)
        with contextlib.nullcontext() if owner is None else context.enter_strategy(owner):
            optimizer.build(model.trainable_variables)
    if saved != set(_optimizer_variables(model)):
        warn_user(OTHER_OPTIMIZER.format(path=path, model=model.name))
        return without
    return arrays
