"""The public names of modules that need an extra, read from their source: the tests do not have these packages."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SOURCE: Final = Path(__file__).parents[1] / "src"

MODULES: Final = ("unisono.ray",)


@dataclass(frozen=True)
class StaticClass:
    """A public class, as far as its source tells: without what it inherits from the missing package."""

    path: str
    docstring: str
    parameters: str
    members: dict[str, str]
    """The docstring of each public method, by its name with parameters."""

    @property
    def signature(self) -> str:
        """Its public path with the parameters of `__init__`."""
        return f"{self.path}{self.parameters}"


def static_classes(module: str) -> Iterator[StaticClass]:
    """The classes in `__all__` of a module."""
    tree = _parse(module)
    origins = {
        alias.asname or alias.name: node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for name in sorted(_names_in_all(tree)):
        definition = _find_class(origins[name], name)
        methods = {
            each.name: each
            for each in definition.body
            if isinstance(each, ast.FunctionDef) and (each.name == "__init__" or not each.name.startswith("_"))
        }
        init = methods.pop("__init__", None)
        yield StaticClass(
            f"{module}.{name}",
            ast.get_docstring(definition) or "",
            "()" if init is None else _parameters(init, skip_first=True),
            {f"{each.name}{_parameters(each)}": ast.get_docstring(each) or "" for each in methods.values()},
        )


def module_docstring(module: str) -> str:
    """The docstring of a module that is not imported."""
    return ast.get_docstring(_parse(module)) or ""


def describe(module: str) -> Iterator[str]:
    """The lines of `tests/public_api.txt`."""
    for found in static_classes(module):
        yield f"class {found.signature}"
        yield from (f"    {member}" for member in sorted(found.members))


def _parse(module: str) -> ast.Module:
    path = _SOURCE / module.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def _names_in_all(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
    raise ValueError("The module has no __all__.")


def _find_class(module: str, name: str) -> ast.ClassDef:
    """Where a class is defined, through the packages that pass it on."""
    for node in _parse(module).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom) and any((each.asname or each.name) == name for each in node.names):
            return _find_class(node.module or "", name)
    raise ValueError(f"{module} has no class {name}.")


def _parameters(function: ast.FunctionDef, *, skip_first: bool = False) -> str:
    """As `inspect.signature` prints them, without annotations."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(positional) - len(given.defaults)) + list(given.defaults)
    kind = inspect.Parameter
    found = [
        _parameter(each, kind.POSITIONAL_OR_KEYWORD, default)
        for each, default in zip(positional, defaults, strict=True)
    ][skip_first:]
    if given.vararg:
        found.append(kind(given.vararg.arg, kind.VAR_POSITIONAL))
    found += [
        _parameter(each, kind.KEYWORD_ONLY, default)
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    if given.kwarg:
        found.append(kind(given.kwarg.arg, kind.VAR_KEYWORD))
    return str(inspect.Signature(found))


def _parameter(argument: ast.arg, kind: inspect._ParameterKind, default: ast.expr | None) -> inspect.Parameter:
    value = inspect.Parameter.empty if default is None else ast.literal_eval(default)
    return inspect.Parameter(argument.arg, kind, default=value)
