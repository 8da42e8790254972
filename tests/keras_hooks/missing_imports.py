"""What Unisono imports from inside Keras and JAX, and what of it the installed versions do not have."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

_INTERNALS = ("keras.src", "jax._src", "jaxlib")


def replace_missing_imports(folder: Path) -> list[str]:
    """Puts an empty class or module where something is missing, so that the rest can be imported; returns a list."""
    missing = []
    for path in sorted(folder.rglob("*.py")):
        for module, name in _internal_imports(path):
            if not _has(module, name):
                missing.append(f"{path.relative_to(folder.parent)} imports {module}.{name}, which does not exist.")
                setattr(_import_or_make(module), name, type(name, (), {}))
    return missing


def _internal_imports(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_INTERNALS):
            for alias in node.names:
                yield str(node.module), alias.name


def _has(module: str, name: str) -> bool:
    try:
        if hasattr(importlib.import_module(module), name):
            return True
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError as error:
        if not str(error.name).startswith(_INTERNALS):  # such as TensorFlow, which a backend of Keras imports
            raise
        return False
    return True


def _import_or_make(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        parent, _, last = module.rpartition(".")
        made = sys.modules[module] = ModuleType(module)
        made.__path__ = []
        setattr(_import_or_make(parent), last, made)
        return made
