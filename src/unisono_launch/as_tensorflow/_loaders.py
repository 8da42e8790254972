"""Loaders of modules that are there already, of empty ones, and of those that are refused."""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Loader
else:  # not imported: every process that a script starts would wait for it
    Loader = object


class SameModule(Loader):
    """Gives a module that has another name too: the object itself, no copy."""

    def __init__(self, find: Callable[[], ModuleType]) -> None:
        self._find = find
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module. Python writes `spec` into it."""
        found = self._find()
        self._spec = found.__spec__
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Gives the module back what it knew of itself: relative imports and `reload` go by it."""
        if self._spec is not None:  # one that was made by hand has none
            module.__spec__ = self._spec


class EmptyModule(Loader):
    """Gives a module with nothing in it."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Python's default."""

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to do."""


class Refused(Loader):
    """Says why a module cannot be imported. It is an error of the import; asking whether it is there is none."""

    def __init__(self, text: str) -> None:
        self._text = text

    def create_module(self, spec: ModuleSpec) -> None:
        """Python's default."""

    def exec_module(self, module: ModuleType) -> None:
        """Raises the error."""
        raise ModuleNotFoundError(self._text, name=module.__name__)
