"""Hook: a model with layers of one's own is called once as in training, to no effect, before its steps run.

Keras builds a model by a call with `training=False`. What a layer makes only in training, the generator of its random
numbers for example, would then be made inside the trace of the step, whose state does not have it. Layers of Keras make
all they need when they are made or built: a model of nothing else is not called again.

Checked against Keras 3.15.1: `fit`, `evaluate` and their batch forms pass `JAXTrainer._symbolic_build`, which takes a
batch or else looks at the first one of an iterator that is set back afterwards; `compile` makes a new
`_compile_config`; `compute_output_spec` runs a function on shapes, in a `StatelessScope` and a `SymbolicScope`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import keras
from keras.src import backend
from keras.src.backend.common.symbolic_scope import SymbolicScope
from keras.src.backend.jax.trainer import JAXTrainer

from unisono._src.keras_hooks._data_steps import is_traced

_ATTRIBUTE: Final = "_unisono_drawn"

# Packages whose layers make their generators when they are made.
_KNOWN: Final = ("keras", "unisono")

_installed: list[bool] = []


def draw_when_built() -> None:
    """Installs the hook."""
    original = JAXTrainer._symbolic_build

    @functools.wraps(original)
    def build(self: Any, iterator: Any = None, data_batch: Any = None) -> None:
        if not _is_to_be_called(self, training=True):
            original(self, iterator=iterator, data_batch=data_batch)
            return
        if data_batch is None:
            data_batch = _first_batch(iterator)
        if data_batch is not None:  # and before the optimizer is built, for layers that are called in training only
            _call(self, keras.utils.unpack_x_y_sample_weight(data_batch)[0], training=True)
        original(self, iterator=iterator, data_batch=data_batch)

    JAXTrainer._symbolic_build = build
    _installed.append(True)


def draw_for_prediction(model: Any, x: Any) -> None:
    """Calls a model as `predict` does, on arrays like ``x``: it may have been built without a call."""
    if _installed and _is_to_be_called(model, training=False):
        _call(model, x, training=False)


def _is_to_be_called(model: Any, *, training: bool) -> bool:
    return training not in _called(model) and any(_is_ones_own(layer) for layer in model._flatten_layers())


def _is_ones_own(layer: Any) -> bool:
    return type(layer).__module__.split(".")[0] not in _KNOWN or isinstance(layer, keras.layers.Lambda)


def _called(model: Any) -> set[bool]:
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
    _called(model).add(training)


def _like(nest: Any, make: Callable[..., Any]) -> Any:
    return keras.tree.map_structure(
        lambda leaf: None if leaf is None else make(leaf.shape, backend.standardize_dtype(leaf.dtype)), nest
    )


def _first_batch(iterator: Any) -> Any:
    """As Keras takes it; None if there is no data."""
    for _, _, found in iterator:
        return found[0] if isinstance(found, list | tuple) else next(found)
    return None
