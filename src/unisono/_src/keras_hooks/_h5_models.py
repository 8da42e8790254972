"""Models and weights in `.h5` files, as Keras 2 wrote them.

Checked against Keras 3.15.1: `load_model_from_hdf5` builds the optimizer for `model._trainable_variables`, which are
the variables that a model has beside those of its layers. That is none, and `fit` refuses such an optimizer: so the
file is loaded without compiling, and compiled here. `saving_utils.compile_args_from_training_config` reads what
`compile` was given, `load_optimizer_weights_from_hdf5_group` the optimizer's values in the order of its `variables`.
`save_model` recommends the other format by absl's logger.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

import h5py
import numpy as np
from keras.src.backend.common import global_state
from keras.src.legacy.saving import json_utils, legacy_h5_format, saving_utils

from unisono._src.state.store import staged_file

_ADVICE: Final = "This file format is considered legacy"

OTHER_OPTIMIZER = """{path!r} holds {stored} values of its optimizer, and {name} has {here} here: another release wrote
them in another order. The optimizer begins anew; {kept}."""


def save_keras2_weights(model: Any, path: str) -> None:
    """Writes the weights in the format of Keras 2, which `load_weights` reads."""
    with staged_file(path) as temporary, h5py.File(temporary, "w") as file:
        legacy_h5_format.save_weights_to_hdf5_group(file, model)


def compile_from_h5(model: Any, path: str, custom_objects: Mapping[str, Any]) -> None:
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


def silence_format_advice() -> None:
    """Takes Keras's advice to save in another format out of its logs: scripts that are as they are cannot follow it."""
    logging.getLogger("absl").addFilter(lambda record: _ADVICE not in record.getMessage())


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
