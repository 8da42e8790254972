"""Eager or traced execution (`tf.executing_eagerly`, `tf.init_scope`), `tf.timestamp`, and what only graphs needed."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

import jax
import keras
import numpy as np

from unisono._src import jax_hooks, keras_hooks
from unisono.tf._tensors import to_host_tensor
from unisono.tf._unsupported import unsupported_class, unsupported_function


class _InitScopeState(threading.local):
    in_init_scope = False


_state = _InitScopeState()


def executing_eagerly() -> bool:
    """Whether code runs eagerly; False while a `tf.function` is traced."""
    return _state.in_init_scope or (bool(jax_hooks.is_evaluating()) and not keras_hooks.in_stateless_scope())


def inside_function() -> bool:
    """Whether a `tf.function` is being traced."""
    return not executing_eagerly()


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Code inside runs eagerly, once, even while a function is being traced."""
    before, _state.in_init_scope = _state.in_init_scope, True
    try:
        with keras_hooks.outside_traces():
            yield
    finally:
        _state.in_init_scope = before


@contextlib.contextmanager
def name_scope(name: str) -> Iterator[str]:
    """Variables created inside have this name as a prefix."""
    with keras.name_scope(name.strip("/") or "scope"):
        yield name if name.endswith("/") else f"{name}/"


def control_dependencies(control_inputs: Any) -> contextlib.AbstractContextManager[None]:
    """Does nothing: operations run in program order."""
    return contextlib.nullcontext()


def group(*inputs: Any, name: str | None = None) -> None:
    """Does nothing: the inputs have been computed already."""


def no_op(name: str | None = None) -> None:
    """Does nothing."""


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value as a NumPy array; None for a traced value, which is known only at run time."""
    value = tensor.value if isinstance(tensor, keras.Variable) else tensor
    return None if isinstance(value, jax.core.Tracer) else np.asarray(value)[()]


def get_logger() -> logging.Logger:
    """The logger "tensorflow", whose level scripts set."""
    return logging.getLogger("tensorflow")


TRACED_TIMESTAMP = """tf.timestamp() inside a compiled function: numbers have 32 bits there, too few for seconds since
1970. Take the time before and after the call of the function."""


def timestamp(name: str | None = None) -> Any:
    """The seconds since 1970, as a 64-bit tensor on the host. Not inside compiled functions."""
    if not jax_hooks.is_evaluating():
        raise NotImplementedError(TRACED_TIMESTAMP)
    return to_host_tensor(np.float64(time.time()))


_NO_GRAPH = "there are no graphs to build by hand; write a function and decorate it with @tf.function."

Graph = unsupported_class("tf.Graph", _NO_GRAPH)
Operation = unsupported_class("tf.Operation", _NO_GRAPH)
Session = unsupported_class("tf.Session", "there are no sessions; call functions, and read results with .numpy().")
placeholder = unsupported_function(
    "tf.placeholder", "functions take arguments: write @tf.function, or tf.keras.Input(shape)."
)
global_variables_initializer = unsupported_function(
    "tf.global_variables_initializer", "variables have a value as soon as they are created. Leave out the call."
)
