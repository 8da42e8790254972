"""Hook: a model with user-defined layers is called once as in training, without a result, before its steps run.

Keras builds a model by a call with `training=False`. What a layer makes only in training, the generator of its random
numbers for example, would then be made inside the trace of the step, whose state does not have it. Layers of Keras make
all they need in their constructor or when they are built: a model of nothing else is not called again.

Checked against Keras 3.15.1: `fit`, `evaluate` and their batch forms pass `JAXTrainer._symbolic_build`, which takes a
batch or else looks at the first one of an iterator that is reset afterwards; `compile` makes a new
`_compile_config`; `compute_output_spec` runs a function on shapes, in a `StatelessScope` and a `SymbolicScope`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import keras
from keras.src import backend
from keras.src.backend.common.symbolic_scope import SymbolicScope
from keras.src.backend.jax.trainer import JAXTrainer

from unisono._src import hooks
from unisono._src.keras_hooks._steps_without_state import is_traced

_ATTRIBUTE: Final = "_unisono_called_modes"

# Packages whose layers make their generators in their constructors.
_KNOWN_PACKAGES: Final = ("keras", "unisono")

_installed: list[bool] = []


def install_call_before_training() -> None:
    """Installs the hook."""
    hooks.wrap(
        JAXTrainer,
        "_symbolic_build",
        _call_and_build,
        expects="(self, iterator=None, data_batch=None)",
        why="what user-defined layers make only in training exists before a step is traced",
        inherited=True,
    )
    _installed.append(True)


def _call_and_build(original: Any) -> Any:
    def build(self: Any, iterator: Any = None, data_batch: Any = None) -> None:
        if not _needs_call(self, training=True):
            original(self, iterator=iterator, data_batch=data_batch)
            return
        if data_batch is None:
            data_batch = _first_batch(iterator)
        if data_batch is not None:  # and before the optimizer is built, for layers that are called in training only
            _call(self, keras.utils.unpack_x_y_sample_weight(data_batch)[0], training=True)
        original(self, iterator=iterator, data_batch=data_batch)

    return build


def call_before_prediction(model: Any, x: Any) -> None:
    """Calls a model as `predict` does, on arrays like ``x``: it may have been built without a call."""
    if _installed and _needs_call(model, training=False):
        _call(model, x, training=False)


def _needs_call(model: Any, *, training: bool) -> bool:
    return training not in _called_modes(model) and any(_is_user_defined(layer) for layer in model._flatten_layers())


def _is_user_defined(layer: Any) -> bool:
    return type(layer).__module__.split(".")[0] not in _KNOWN_PACKAGES or isinstance(layer, keras.layers.Lambda)


def _called_modes(model: Any) -> set[bool]:
    """In which modes the model was called since it was compiled."""
    compiled = getattr(model, "_compile_config", None)
    known, modes = getattr(model, _ATTRIBUTE, (None, set()))
    if known is not compiled or not hasattr(model, _ATTRIBUTE):
        modes = set()
        object.__setattr__(model, _ATTRIBUTE, (compiled, modes))
    return modes


def _call(model: Any, x: Any, *, training: bool) -> None:
    if is_traced(model):
        backend.compute_output_spec(model, _like(x, keras.KerasTensor), training=training)
    else:
        # Line by line a layer may look at values.
        with keras.StatelessScope(), SymbolicScope():
            model(_like(x, backend.numpy.zeros), training=training)
    _called_modes(model).add(training)


def _like(nest: Any, make: Callable[..., Any]) -> Any:
    return keras.tree.map_structure(
        lambda leaf: None if leaf is None else make(leaf.shape, backend.standardize_dtype(leaf.dtype)), nest
    )


def _first_batch(iterator: Any) -> Any:
    """As Keras takes it; None if there is no data."""
    for _, _, found in iterator:
        return found[0] if isinstance(found, list | tuple) else next(found)
    return None
