"""Where code runs: line by line or traced; and what TensorFlow's graphs needed."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from typing import Any

import jax
import keras
import numpy as np

from unisono._src import jax_hooks, keras_hooks
from unisono.tf._unsupported import unsupported_class, unsupported_function


class _Here(threading.local):
    outside = False
    """Whether code runs line by line, whatever is being traced around it."""


_here = _Here()


def executing_eagerly() -> bool:
    """Whether code runs line by line; False inside of a `tf.function`, while it is traced."""
    return _here.outside or (bool(jax_hooks.is_evaluating()) and not keras_hooks.in_stateless_scope())


def inside_function() -> bool:
    """Whether a `tf.function` is being traced."""
    return not executing_eagerly()


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Inside, code runs line by line, once, also where a function is being traced around it."""
    before, _here.outside = _here.outside, True
    try:
        with keras_hooks.outside_traces():
            yield
    finally:
        _here.outside = before


@contextlib.contextmanager
def name_scope(name: str) -> Iterator[str]:
    """Variables that are made inside have this name before their own."""
    with keras.name_scope(name.strip("/") or "scope"):
        yield name if name.endswith("/") else f"{name}/"


def control_dependencies(control_inputs: Any) -> contextlib.AbstractContextManager[None]:
    """Does nothing: things happen in the order in which they are written."""
    return contextlib.nullcontext()


def group(*inputs: Any, name: str | None = None) -> None:
    """Does nothing: what was passed has been done."""


def no_op(name: str | None = None) -> None:
    """Does nothing."""


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value as NumPy has it; None while a function is traced, and the value is not there yet."""
    value = tensor.value if isinstance(tensor, keras.Variable) else tensor
    return None if isinstance(value, jax.core.Tracer) else np.asarray(value)[()]


def get_logger() -> logging.Logger:
    """The logger that scripts for TensorFlow set the level of."""
    return logging.getLogger("tensorflow")


_NO_GRAPH = "there are no graphs to build by hand; write a function and decorate it with @tf.function."

Graph = unsupported_class("tf.Graph", _NO_GRAPH)
Operation = unsupported_class("tf.Operation", _NO_GRAPH)
Session = unsupported_class("tf.Session", "there are no sessions; call functions, and read results with .numpy().")
placeholder = unsupported_function(
    "tf.placeholder", "functions take arguments: write @tf.function, or tf.keras.Input(shape)."
)
global_variables_initializer = unsupported_function(
    "tf.global_variables_initializer", "variables have their value from the beginning. Leave the call out."
)
