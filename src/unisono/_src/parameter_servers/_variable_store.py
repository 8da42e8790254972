"""What a parameter server holds: the variables of one job, and the programs that update them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, final

import jax
import numpy as np

from unisono._src.parameter_servers._arrays import Array
from unisono._src.parameter_servers._exported import load_program
from unisono_launch.connection import Message


class _VersionedValue:
    def __init__(self, value: Any, version: int) -> None:
        self.value, self.version = value, version


@final
class VariableStore:
    """Variables by number, with their versions. Each request is carried out as a whole, so no update is lost.

    >>> store = VariableStore()
    >>> _ = store.handle({"type": "assign", "variables": [7]}, [np.float32([1, 2])], b"")
    >>> store.handle({"type": "read", "variables": [7], "known": [0]}, [], b"")[1][0].tolist()
    [1.0, 2.0]
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._variables: dict[int, _VersionedValue] = {}
        self._programs: dict[str, Callable[..., Any]] = {}
        self._applied: set[int] = set()
        self._version = 0
        self._device = jax.local_devices(backend="cpu")[0]

    def handle(self, message: Message, arrays: Sequence[Array], data: bytes) -> tuple[Message, Sequence[Any]]:
        """The answer to a request."""
        handlers: dict[str, Callable[[], tuple[Message, Sequence[Any]]]] = {
            "assign": lambda: self._assign(message["variables"], arrays),
            "read": lambda: self._read(message["variables"], message["known"]),
            "program": lambda: self._add_program(message["key"], data),
            "update": lambda: self._update(message, arrays),
            "forget": lambda: self._forget(message["variables"]),
        }
        with self._lock:
            return handlers[message["type"]]()

    def _assign(self, numbers: Sequence[int], arrays: Sequence[Array]) -> tuple[Message, Sequence[Any]]:
        self._version += 1
        for number, array in zip(numbers, arrays, strict=True):
            self._variables[number] = _VersionedValue(jax.device_put(array, self._device), self._version)
        return {"version": self._version}, ()

    def _read(self, numbers: Sequence[int], known: Sequence[int]) -> tuple[Message, Sequence[Any]]:
        found = [self._variables[number] for number in numbers]
        changed = [i for i, (each, version) in enumerate(zip(found, known, strict=True)) if each.version != version]
        versions = [each.version for each in found]
        return {"changed": changed, "versions": versions}, [np.asarray(found[i].value) for i in changed]

    def _add_program(self, key: str, data: bytes) -> tuple[Message, Sequence[Any]]:
        if key not in self._programs:
            self._programs[key] = load_program(data)
        return {}, ()

    def _update(self, message: Message, arrays: Sequence[Array]) -> tuple[Message, Sequence[Any]]:
        """Applies the updates of one closure, unless an earlier run of it, on a worker that was lost, has done so."""
        closure = message["closure"]
        self._applied = {each for each in self._applied if each >= message["finished_below"]}
        if closure in self._applied:
            return {"applied": False}, ()
        self._applied.add(closure)
        self._version += 1
        with jax.default_device(self._device):
            for update in message["updates"]:
                variables = [self._variables[number] for number in update["variables"]]
                received = [arrays[position] for position in update["received"]]
                new_values = self._programs[update["program"]]([each.value for each in variables], received)
                for variable, value in zip(variables, new_values, strict=True):
                    variable.value, variable.version = value, self._version
        return {"applied": True}, ()

    def _forget(self, numbers: Sequence[int]) -> tuple[Message, Sequence[Any]]:
        for number in numbers:
            self._variables.pop(number, None)
        return {}, ()
