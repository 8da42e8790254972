"""The value of a variable that a parameter server holds, as the chief reads and writes it."""

from __future__ import annotations

import threading
import weakref
from typing import Any, final

import numpy as np

from unisono._src import keras_hooks
from unisono._src.devices import Placement
from unisono._src.parameter_servers._servers import ParameterServers


@final
class StoredVariable:
    """A variable on a server, and the chief's copy of it.

    The copy is read again when closures may have changed the value. What the chief writes goes into the copy first:
    an evaluation that resets and updates metrics many times sends them once.

    Attributes:
        number: by which servers know it.
        server: the one that holds it.
        group: variables of one group are updated together: a weight and what an optimizer keeps for it.
    """

    def __init__(self, servers: ParameterServers, placement: Placement, beside: StoredVariable | None) -> None:
        self._servers, self._placement = servers, placement
        if beside is None:
            self.number, self.server = servers.new_variable()
            self.group = self.number
        else:
            self.number, self.server, self.group = servers.new_number(), beside.server, beside.group
        self._copy: Any = None
        self._version = -1
        self._generation: int | None = None
        self._is_changed = False
        self._lock = threading.Lock()  # the script and the threads of workers, which trace functions, read it

    @property
    def device(self) -> str:
        return f"/job:ps/replica:0/task:{self.server}/device:CPU:0"

    def read(self) -> Any:
        with self._lock:
            return self._read()

    def _read(self) -> Any:
        if self._copy is None or self._is_changed:
            return self._copy
        generation = self._servers.generation
        # A program of the chief that failed may have taken the copy: the server still has the value.
        if generation is None or generation != self._generation or self._copy.is_deleted():
            known = -1 if self._copy.is_deleted() else self._version
            self._version, value = self._servers.read(self.server, self.number, known)
            if value is not None:
                with keras_hooks.outside_traces():  # the shape of a value is read while a function is traced
                    self._copy = self._placement.place_variable(value)
            self._generation = generation
        return self._copy

    def write(self, value: Any) -> None:
        with self._lock:
            self._copy, self._is_changed = value, self._is_changed or value is not None
        if value is not None:
            self._servers.mark_changed(self)

    def to_host(self) -> Any:
        return np.asarray(self._copy)

    def set_sent(self, version: int) -> None:
        self._version, self._is_changed, self._generation = version, False, self._servers.generation

    def __deepcopy__(self, memo: Any) -> StoredVariable:
        """The value of a copy of the variable: one more on a server."""
        copy = StoredVariable(self._servers, self._placement, None)
        value = self.read()
        if value is not None:
            copy.write(self._placement.place_variable(value))
        return copy


def store_remotely(variable: Any, servers: ParameterServers, placement: Placement) -> None:
    """From now on a server holds the value of ``variable``."""
    if keras_hooks.get_storage(variable) is not None:
        return
    reference = keras_hooks.current_reference()
    beside = None if reference is None else keras_hooks.get_storage(reference)
    storage = StoredVariable(servers, placement, beside)
    keras_hooks.become_remote(variable, storage)
    weakref.finalize(variable, servers.forget, storage.number, storage.server).atexit = False
