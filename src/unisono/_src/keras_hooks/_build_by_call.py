"""Hook: models that have no `build` of their own are built by a call on symbolic inputs.

Checked against Keras 3.15.1: a `build` that bears `_is_default` is not looked upon as the user's; a layer that is
called notes it in `_called`, builds what is inside of it by a symbolic call of its own, and then calls `build`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras.src import backend, utils


def make_default_build(build: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """A `build(self, input_shape)` for models that have none, by ``build``.

    It is not for `super().build` in a user's, nor for models that are built since they are called.
    """
    original = keras.Model.build

    def method(self: Any, input_shape: Any) -> None:
        self._check_super_called()
        if utils.is_default(self.build) and not self._called:
            build(self, input_shape)
            self.built = True
        else:
            original(self, input_shape)

    method._is_default = True  # type: ignore[attr-defined]
    return method


def call_on_shapes(model: Any, input_shape: Any) -> None:
    """Calls `model.call`, without its results, on symbolic inputs: one for each shape in the nest ``input_shape``."""
    inputs = keras.tree.map_shape_structure(backend.KerasTensor, input_shape)
    training = {"training": False} if model._call_has_training_arg else {}
    backend.compute_output_spec(model.call, inputs, **training)
