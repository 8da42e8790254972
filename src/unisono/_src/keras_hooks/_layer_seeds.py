"""Hook: which layer is being called, and a generator of random numbers that belongs to it.

A layer may draw numbers without a seed, as TensorFlow's do. In a compiled step these are others each time only if the
generator's state is part of the model's, so it has to be there before the step is traced. A generator is made when it
is drawn from for the first time; :mod:`unisono._src.keras_hooks._build_draws` sees to it that this is early enough.

Checked against Keras 3.15.1: layers track generators that are set as attributes, until the tracker is locked, which
Keras's own code unlocks for a moment as well; every layer passes `Layer.__call__`, except for a model in its steps,
which passes `stateless_call`; shapes are inferred inside a `SymbolicScope`.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import keras
from keras.src.backend.common.stateless_scope import get_stateless_scope
from keras.src.backend.common.symbolic_scope import in_symbolic_scope

from unisono._src.keras_hooks._build_draws import draw_when_built
from unisono._src.keras_hooks._variables import StateScope, enclosing_state_scope, outside_traces

_ATTRIBUTE = "_unisono_generator_{name}"


class _Here(threading.local):
    def __init__(self) -> None:
        self.layers: list[Any] = []


_here = _Here()


def track_current_layer() -> None:
    """Installs the hook, and the one by which models are called in training before they are trained."""
    keras.Layer.__call__ = _followed(keras.Layer.__call__)
    keras.Layer.stateless_call = _followed(keras.Layer.stateless_call)
    draw_when_built()


def _followed(original: Any) -> Any:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        _here.layers.append(self)
        try:
            return original(self, *args, **kwargs)
        finally:
            _here.layers.pop()

    return call


def get_layer_generator(name: str, seed: int | None) -> Any:
    """The generator by this name of the layer that is being called, made if there is none; None outside of layers."""
    if not _here.layers:
        return None
    layer, attribute = _here.layers[-1], _ATTRIBUTE.format(name=name)
    if not hasattr(layer, attribute):
        with outside_traces():
            made = keras.random.SeedGenerator(seed)
        locked = layer._tracker.locked
        layer._tracker.unlock()
        setattr(layer, attribute, made)
        if locked:
            layer._tracker.lock()
    return getattr(layer, attribute)


def draws_differ_per_run(generator: Any) -> bool:
    """Whether what is drawn from ``generator`` now is other than what the program draws the next time it runs."""
    scope = get_stateless_scope()
    if in_symbolic_scope() or enclosing_state_scope() is not None or isinstance(scope, StateScope):
        return True
    return scope is not None and scope.get_current_value(generator.state) is not None
