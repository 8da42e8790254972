"""Loaders for a second name of a module, for empty modules, and for modules that cannot be imported."""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Loader
else:  # not imported: it would delay every process that a script starts
    Loader = object


class AliasLoader(Loader):
    """Gives a module under a second name: the object itself, no copy."""

    def __init__(self, find: Callable[[], ModuleType]) -> None:
        self._find = find
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module. Python writes `spec` into it."""
        found = self._find()
        self._spec = found.__spec__
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Restores the module's own spec: relative imports and `reload` use it."""
        if self._spec is not None:  # a module that was made without an import has none
            module.__spec__ = self._spec


class EmptyLoader(Loader):
    """Gives an empty module."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Python's default."""

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to do."""


class RefusingLoader(Loader):
    """Raises when the module is imported, and says why. Only looking for the module is no error."""

    def __init__(self, describe: Callable[[], str]) -> None:
        self._describe = describe

    def create_module(self, spec: ModuleSpec) -> None:
        """Python's default."""

    def exec_module(self, module: ModuleType) -> None:
        """Raises the error."""
        raise ModuleNotFoundError(self._describe(), name=module.__name__)
