"""Modules that are private in TensorFlow and that public scripts import from: their names are looked up here."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

from unisono.tf._missing import explain_missing_names

_PACKAGE: Final = "unisono."


class PrivateModule(ModuleType):
    """A module without names of its own.

    Args:
        name: the module's name: "unisono.tf.python.ops.math_ops".
        sources: the modules that have its public names, in the order in which they are asked.
        renamed: names that are called differently in the public namespace, with their public names.
    """

    def __init__(self, name: str, sources: tuple[str, ...], renamed: Mapping[str, str]) -> None:
        super().__init__(name, f"Names of TensorFlow's private module `{name.removeprefix(_PACKAGE)}`.")
        self.__path__: list[str] = []  # a package: Python looks for modules in it
        self._sources, self._renamed = sources, renamed
        self._raise_missing = explain_missing_names(name.removeprefix(_PACKAGE), depth=2)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return self.__dir__()
        if name.startswith("_"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if name in self._renamed:
            module, _, last = self._renamed[name].rpartition(".")
            return getattr(importlib.import_module(module), last)
        for source in map(importlib.import_module, self._sources):
            if hasattr(source, name):
                return getattr(source, name)
        return self._raise_missing(name)

    def __dir__(self) -> list[str]:
        sources = map(importlib.import_module, self._sources)
        names = {*vars(self), *self._renamed, *(name for source in sources for name in dir(source))}
        return sorted(name for name in names if not name.startswith("_"))


def add_private_modules(package: str, table: Mapping[str, str]) -> None:
    """Makes the modules of a table importable, and attributes of the modules that contain them.

    Args:
        package: the package that they are in: "unisono.tf.python".
        table: for each path in the package words: a module that has its names ("tf.math", "inspect"; a file of the
            package as "._device_lib"), or a name and its public name ("EagerTensor=tf.Tensor").
    """
    for path, words in table.items():
        sources = tuple(_absolute(word, package) for word in words.split() if "=" not in word)
        pairs = (word.split("=") for word in words.split() if "=" in word)
        renamed = {name: _absolute(public, package) for name, public in pairs}
        _add(f"{package}.{path}", sources, renamed)


def _add(name: str, sources: tuple[str, ...], renamed: Mapping[str, str]) -> None:
    parent, _, last = name.rpartition(".")
    if parent not in sys.modules:
        _add(parent, (), {})
    module = PrivateModule(name, sources, renamed)
    sys.modules[name] = module
    setattr(sys.modules[parent], last, module)


def _absolute(name: str, package: str) -> str:
    if name.startswith("."):
        return package + name
    return _PACKAGE + name if name.partition(".")[0] == "tf" else name
