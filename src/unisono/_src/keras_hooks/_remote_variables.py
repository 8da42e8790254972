"""Hook: the value of a Keras variable is stored elsewhere, on a parameter server.

Checked against Keras 3.15.1: `_value` is a plain attribute of a variable (`_on_read_variables.py` checks it). Here it
is a property, so that whatever reads or writes it on the chief sees what the server has. An optimizer makes the
variables that belong to one weight by `add_variable_from_reference`: they are stored where the weight is.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, Protocol

from keras.src.optimizers.base_optimizer import BaseOptimizer

from unisono._src import hooks


class ValueStorage(Protocol):
    """Where the value of a variable is."""

    @property
    def device(self) -> str:
        """The device, as TensorFlow names it."""

    def read(self) -> Any:
        """The present value, as an array on a device of this process; None if it has none."""

    def write(self, value: Any) -> None:
        """Replaces the value."""


class _Reference(threading.local):
    variable: Any = None


_reference = _Reference()


def colocate_slots() -> None:
    """Installs the hook."""
    hooks.wrap(
        BaseOptimizer,
        "add_variable_from_reference",
        _remember_reference,
        expects="(self, reference_variable, name=None, initializer='zeros')",
        why="a parameter server that holds a weight holds what its optimizer keeps for it",
    )


def become_remote(variable: Any, storage: ValueStorage) -> None:
    """From now on the value of ``variable`` is what ``storage`` has."""
    variable.__dict__.pop("_value", None)
    kind: Any = type(variable)
    variable.__class__ = _remote_class(kind)
    variable.__dict__["_storage"] = storage


def get_storage(variable: Any) -> Any:
    """The storage of a remote variable; None for any other one."""
    return variable.__dict__.get("_storage")


def current_reference() -> Any:
    """The weight for which an optimizer makes variables just now; None otherwise."""
    return _reference.variable


def _remember_reference(original: Any) -> Any:
    def add_variable_from_reference(self: Any, reference_variable: Any, *args: Any, **kwargs: Any) -> Any:
        before, _reference.variable = _reference.variable, reference_variable
        try:
            return original(self, reference_variable, *args, **kwargs)
        finally:
            _reference.variable = before

    return add_variable_from_reference


@functools.cache
def _remote_class(kind: type) -> type:
    members = {
        "_value": property(lambda self: self._storage.read(), lambda self, value: self._storage.write(value)),
        "device": property(lambda self: self._storage.device),
    }
    return type(f"Remote{kind.__name__}", (kind,), members)
