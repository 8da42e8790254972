"""Ways to run operations, of which there is one: they are launched and not waited for."""

from __future__ import annotations

import contextlib


def async_scope() -> contextlib.AbstractContextManager[None]:
    """Does nothing: JAX never waits for an operation before a value is read."""
    return contextlib.nullcontext()


def async_clear_error() -> None:
    """Does nothing: an error is raised where its value is read, and nowhere else."""


def function_executor_type(executor_type: str) -> contextlib.AbstractContextManager[None]:
    """Does nothing: XLA runs functions."""
    return contextlib.nullcontext()


def enable_strict_mode() -> None:
    """Does nothing: what is deprecated in TensorFlow and here says so by itself."""
