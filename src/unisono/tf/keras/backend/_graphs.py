"""Functions of `tf.keras.backend` for graphs and sessions. Most raise an error with advice; `function` works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import keras
import numpy as np

_NO_GRAPHS = "tf.keras.backend.{name} belongs to graphs and sessions, which are not available. {instead}"


def _unsupported(name: str, instead: str) -> NotImplementedError:
    return NotImplementedError(_NO_GRAPHS.format(name=name, instead=instead))


def learning_phase() -> NoReturn:
    """Not supported. Pass `training` in each call."""
    raise _unsupported("learning_phase()", "Give your layer's call an argument `training=None`.")


def set_learning_phase(value: Any) -> NoReturn:
    """Not supported. Pass `training` in each call."""
    raise _unsupported("set_learning_phase()", "Pass training=True or training=False when you call the model.")


def learning_phase_scope(value: Any) -> NoReturn:
    """Not supported. Pass `training` in each call."""
    raise _unsupported("learning_phase_scope()", "Pass training=True or training=False when you call the model.")


def gradients(loss: Any, variables: Any) -> NoReturn:
    """Not supported. There are no graphs; use tf.GradientTape."""
    raise _unsupported(
        "gradients()", "Compute the loss inside `with tf.GradientTape() as tape:`; tape.gradient(loss, ...)."
    )


def function(inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **kwargs: Any) -> Any:
    """Creates a function from values of a model's tensors ``inputs`` to values of ``outputs``, as NumPy arrays.

    Args:
        inputs: tensors of a functional model, such as `[model.input]`.
        outputs: other tensors of it, such as `[model.get_layer("features").output]`.
        updates: not supported.
        name: accepted, without effect.
        **kwargs: not supported.
    """
    if updates or kwargs:
        raise _unsupported("function(updates=..., ...)", "Write a @tf.function that assigns to the variables.")
    model = keras.Model(inputs, outputs)
    is_single_list = isinstance(outputs, list) and len(outputs) == 1

    def compute(values: Any) -> Any:
        found = keras.tree.map_structure(np.asarray, model(values))
        return [found] if is_single_list and not isinstance(found, list) else found

    return compute


def placeholder(*args: Any, **kwargs: Any) -> NoReturn:
    """Not supported. There are no graphs; use `tf.keras.Input` for inputs of models."""
    raise _unsupported("placeholder()", "Use tf.keras.Input(shape).")


def get_session(*args: Any) -> NoReturn:
    """Not supported. There are no sessions; read values with tensor.numpy()."""
    raise _unsupported("get_session()", "Read values with tensor.numpy().")


def set_session(session: Any) -> None:
    """Does nothing: the options of a `tf.compat.v1.Session` took effect when it was made."""


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """``x`` when training, else ``alt``; either may be a function."""
    if training is None:
        learning_phase()
    chosen: Callable[[], Any] | Any = x if training else alt
    return chosen() if callable(chosen) else chosen


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """``alt`` when training, else ``x``."""
    return in_train_phase(alt, x, training)


def manual_variable_initialization(value: bool) -> None:
    """Does nothing: variables have a value as soon as they are created."""


def reset_uids() -> None:
    """Numbers layers without a name from the beginning."""
    keras.utils.clear_session(free_memory=False)
