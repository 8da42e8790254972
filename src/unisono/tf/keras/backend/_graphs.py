"""Functions of `tf.keras.backend` that belong to graphs and sessions: what each says when it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_TEXT = "tf.keras.backend.{name} belongs to graphs and sessions, which are not there. {instead}"


def _refuse(name: str, instead: str) -> Any:
    raise NotImplementedError(_TEXT.format(name=name, instead=instead))


def learning_phase() -> Any:
    """Whether it is training time, which here is said in each call."""
    return _refuse("learning_phase()", "Give your layer's call an argument `training=None`, and pass it on.")


def set_learning_phase(value: Any) -> Any:
    """The same, set for all."""
    return _refuse("set_learning_phase()", "Pass training=True or training=False when you call the model.")


def learning_phase_scope(value: Any) -> Any:
    """The same, for a block."""
    return _refuse("learning_phase_scope()", "Pass training=True or training=False when you call the model.")


def gradients(loss: Any, variables: Any) -> Any:
    """Gradients of a graph."""
    return _refuse(
        "gradients()", "Compute the loss inside `with tf.GradientTape() as tape:`; tape.gradient(loss, ...)."
    )


def function(inputs: Any, outputs: Any, updates: Any = None, **kwargs: Any) -> Any:
    """A part of a graph to be called."""
    return _refuse("function()", "Make a model of the same tensors, tf.keras.Model(inputs, outputs), and call it.")


def placeholder(*args: Any, **kwargs: Any) -> Any:
    """A hole in a graph."""
    return _refuse("placeholder()", "Use tf.keras.Input(shape).")


def get_session(*args: Any) -> Any:
    """The session."""
    return _refuse("get_session()", "Values are there at once: tensor.numpy().")


def set_session(session: Any) -> Any:
    """The session. Scripts set one for its options."""
    return _refuse("set_session()", "Options of devices are set by tf.config.")


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
