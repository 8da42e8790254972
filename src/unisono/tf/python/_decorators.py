"""Decorators of `tensorflow.python.util.deprecation`, `tf_export` and `test_util` that leave a function as it is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")

_PRINT_DEPRECATION_WARNINGS = True  # scripts set it to False; nothing is printed either way


def deprecated(date: Any, instructions: str, warn_once: bool = True) -> Callable[[_T], _T]:
    """A decorator without effect."""
    return _keep


def deprecated_args(date: Any, instructions: str, *names: Any, **named: Any) -> Callable[[_T], _T]:
    """A decorator without effect."""
    return _keep


def deprecated_arg_values(date: Any, instructions: str, warn_once: bool = True, **named: Any) -> Callable[[_T], _T]:
    """A decorator without effect."""
    return _keep


def deprecated_endpoints(*names: str) -> Callable[[_T], _T]:
    """A decorator without effect."""
    return _keep


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value of an argument that has two names."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Both {old_name!r} and {new_name!r} were given. Pass only {new_name!r}.")
    return old_value


def silence() -> contextlib.AbstractContextManager[None]:
    """A context without effect: nothing is printed."""
    return contextlib.nullcontext()


def tf_export(*names: str, **named: Any) -> Callable[[_T], _T]:
    """A decorator without effect: the function gets no name in `tf`."""
    return _keep


def keras_export(*names: str, **named: Any) -> Callable[[_T], _T]:
    """A decorator without effect: the function gets no name in `tf.keras`."""
    return _keep


def run_in_graph_and_eager_modes(func: Any = None, **options: Any) -> Any:
    """A decorator of tests, with or without arguments, without effect: they run eagerly."""
    return _keep if func is None else func


run_all_in_graph_and_eager_modes = run_v2_only = run_in_graph_and_eager_modes


def _keep(value: _T) -> _T:
    return value
