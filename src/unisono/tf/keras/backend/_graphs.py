"""Functions of `tf.keras.backend` that belong to graphs and sessions: what each says when it is called. `function` is
there: a model does the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import keras
import numpy as np

_TEXT = "tf.keras.backend.{name} belongs to graphs and sessions, which are not available. {instead}"


def _refusal(name: str, instead: str) -> NotImplementedError:
    return NotImplementedError(_TEXT.format(name=name, instead=instead))


def learning_phase() -> NoReturn:
    """Not supported. Whether it is training time is said in each call."""
    raise _refusal("learning_phase()", "Give your layer's call an argument `training=None`, and pass it on.")


def set_learning_phase(value: Any) -> NoReturn:
    """Not supported. Whether it is training time is said in each call."""
    raise _refusal("set_learning_phase()", "Pass training=True or training=False when you call the model.")


def learning_phase_scope(value: Any) -> NoReturn:
    """Not supported. Whether it is training time is said in each call."""
    raise _refusal("learning_phase_scope()", "Pass training=True or training=False when you call the model.")


def gradients(loss: Any, variables: Any) -> NoReturn:
    """Not supported. There are no graphs; tapes find gradients."""
    raise _refusal(
        "gradients()", "Compute the loss inside `with tf.GradientTape() as tape:`; tape.gradient(loss, ...)."
    )


def function(inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **kwargs: Any) -> Any:
    """A function of the values of a model's tensors ``inputs`` that gives those of ``outputs``, as NumPy's arrays.

    Args:
        inputs: tensors of a functional model, such as `[model.input]`.
        outputs: other tensors of it, such as `[model.get_layer("features").output]`.
        updates: not there.
        name: accepted, without effect.
        **kwargs: not there.
    """
    if updates or kwargs:
        raise _refusal("function(updates=..., ...)", "Write a @tf.function that assigns to the variables.")
    model = keras.Model(inputs, outputs)
    wrapped = isinstance(outputs, list) and len(outputs) == 1

    def called(values: Any) -> Any:
        found = keras.tree.map_structure(np.asarray, model(values))
        return [found] if wrapped and not isinstance(found, list) else found

    return called


def placeholder(*args: Any, **kwargs: Any) -> NoReturn:
    """Not supported. There are no graphs; inputs of models are made by `tf.keras.Input`."""
    raise _refusal("placeholder()", "Use tf.keras.Input(shape).")


def get_session(*args: Any) -> NoReturn:
    """Not supported. There are no sessions; values are there at once."""
    raise _refusal("get_session()", "Values are there at once: tensor.numpy().")


def set_session(session: Any) -> NoReturn:
    """Not supported. There are no sessions; options of devices are set by `tf.config`."""
    raise _refusal("set_session()", "Options of devices are set by tf.config.")


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
    """Without effect: variables have their values when they are made."""
