"""Hook: which layer is being called, and a generator of random numbers that belongs to it.

A layer may draw numbers without a seed, as TensorFlow's do. In a compiled step these differ each time only if the
generator's state is part of the model's, so it has to exist before the step is traced. A generator is made when it
is drawn from for the first time; :mod:`unisono._src.keras_hooks._training_call` ensures that this is early enough.

Checked against Keras 3.15.1: layers track generators that are set as attributes, until the tracker is locked, which
Keras's own code unlocks for a moment as well; shapes are inferred inside a `SymbolicScope`.
"""

from __future__ import annotations

import threading
from typing import Any

import keras
from keras.src.backend.common.stateless_scope import get_stateless_scope
from keras.src.backend.common.symbolic_scope import in_symbolic_scope
from keras.src.utils.tracking import Tracker

from unisono._src import hooks
from unisono._src.keras_hooks._layer_calls import CallHandler, handle_layer_calls, handle_stateless_calls
from unisono._src.keras_hooks._training_call import install_call_before_training
from unisono._src.keras_hooks._variables import StateScope, enclosing_state_scope, outside_traces

_ATTRIBUTE = "_unisono_generator_{name}"


class _Calls(threading.local):
    def __init__(self) -> None:
        self.layers: list[Any] = []


_calls = _Calls()


def install_current_layer_tracking() -> None:
    """Installs the hook, and the one by which models are called in training before they are trained."""
    handler = CallHandler(name="current layer", enter=_push, leave=_pop)
    handle_layer_calls(handler)
    handle_stateless_calls(handler)
    why = "a generator that a layer makes in a call becomes part of its state"
    hooks.require(Tracker, "lock", expects="(self, msg=None)", why=why)
    hooks.require(Tracker, "unlock", expects="(self)", why=why)
    install_call_before_training()


def get_layer_generator(name: str, seed: int | None) -> Any:
    """The generator by this name of the layer that is being called, made if there is none; None outside layers."""
    if not _calls.layers:
        return None
    layer, attribute = _calls.layers[-1], _ATTRIBUTE.format(name=name)
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
    """Whether a program that is traced now draws other numbers from ``generator`` at each of its runs."""
    scope = get_stateless_scope()
    if in_symbolic_scope() or enclosing_state_scope() is not None or isinstance(scope, StateScope):
        return True
    return scope is not None and scope.get_current_value(generator.state) is not None


def _push(layer: Any, kwargs: dict[str, Any]) -> None:
    _calls.layers.append(layer)


def _pop(layer: Any, kwargs: dict[str, Any], entered: Any) -> None:
    _calls.layers.pop()
