"""Hook: the value of a Keras variable is stored elsewhere, on a parameter server.

Checked against Keras 3.15.1: `_value` is a plain attribute of a variable (`_on_read_variables.py` checks it). Here it
is a property, so that whatever reads or writes it on the chief sees what the server has.
"""

from __future__ import annotations

import functools
from typing import Any, Protocol


class ValueStorage(Protocol):
    """Where the value of a variable is."""

    @property
    def device(self) -> str:
        """The device, as TensorFlow names it."""

    def read(self) -> Any:
        """The present value, as an array on a device of this process; None if it has none."""

    def write(self, value: Any) -> None:
        """Replaces the value."""


def become_remote(variable: Any, storage: ValueStorage) -> None:
    """From now on the value of ``variable`` is what ``storage`` has."""
    variable.__dict__.pop("_value", None)
    kind: Any = type(variable)
    variable.__class__ = _remote_class(kind)
    variable.__dict__["_storage"] = storage


def get_storage(variable: Any) -> Any:
    """The storage of a remote variable; None for any other one."""
    return variable.__dict__.get("_storage")


@functools.cache
def _remote_class(kind: type) -> type:
    members = {
        "_value": property(lambda self: self._storage.read(), lambda self, value: self._storage.write(value)),
        "device": property(lambda self: self._storage.device),
    }
    return type(f"Remote{kind.__name__}", (kind,), members)
