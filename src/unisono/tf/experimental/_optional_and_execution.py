"""`tf.experimental.Optional`, and execution modes, which have no effect: JAX dispatches operations asynchronously."""

from __future__ import annotations

import contextlib
from typing import Any

from unisono import data
from unisono.tf.data._conversions import to_arrays, to_host_tensors


class _OptionalMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, data.Optional)


class Optional(data.Optional, metaclass=_OptionalMeta):
    """A value that may be missing: what `get_next_as_optional()` returns.

    >>> bool(Optional.from_value(3).has_value()), bool(Optional.empty(None).has_value())
    (True, False)
    """

    @staticmethod
    def from_value(value: Any) -> data.Optional:
        """Returns an Optional that holds ``value``."""
        return data.Optional([to_host_tensors(to_arrays(value, "from_value"))])

    @staticmethod
    def empty(element_spec: Any) -> data.Optional:
        """Returns an Optional without a value."""
        del element_spec
        return data.Optional([])


def async_scope() -> contextlib.AbstractContextManager[None]:
    """Accepted without effect: JAX waits for an operation only when its value is read."""
    return contextlib.nullcontext()


def async_clear_error() -> None:
    """Accepted without effect: an error is raised where its value is read, and is not stored."""


def function_executor_type(executor_type: str) -> contextlib.AbstractContextManager[None]:
    """Accepted without effect: XLA runs functions."""
    return contextlib.nullcontext()


def enable_strict_mode() -> None:
    """Accepted without effect: deprecated names always warn."""
