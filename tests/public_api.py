"""Prints the public API: every public name with its signature, and the public members of classes.

```
python -m tests.public_api > tests/public_api.txt
```
"""

import enum
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import unisono
from tests import optional_api

# Namespaces in the shape of another library. tests/tf and tests/tfds compare them with the original.
COMPATIBLE = ("tf", "tfds")
# Modules that need an extra, which the tests do not have: their source is read instead.
OPTIONAL = tuple(module.rpartition(".")[2] for module in optional_api.MODULES)


def public_modules() -> Iterator[ModuleType]:
    """`unisono` and every module below it without a leading underscore, except compatible and optional ones."""
    yield unisono
    names = [found.name for found in pkgutil.iter_modules(unisono.__path__)]
    for name in sorted(names):
        if name.startswith("_") or name in (*COMPATIBLE, *OPTIONAL):
            continue
        module = importlib.import_module(f"unisono.{name}")
        yield module
        for inner in pkgutil.iter_modules(getattr(module, "__path__", [])):
            yield importlib.import_module(f"unisono.{name}.{inner.name}")


def describe(module: ModuleType) -> Iterator[str]:
    """One line for each name in `__all__`, and one for each public member of a class."""
    for name in sorted(module.__all__):
        value = getattr(module, name)
        path = f"{module.__name__}.{name}"
        if inspect.ismodule(value):
            yield f"module {path}"
        elif inspect.isclass(value):
            yield f"class {path}{_signature(value)}"
            yield from (f"    {member}" for member in public_members(value))
        elif callable(value):
            yield f"{path}{_signature(value)}"
        else:
            yield f"{path}: {type(value).__name__}"


def public_members(cls: type) -> Iterator[str]:
    """Members of Unisono's that no public base class lists already."""
    for name in sorted(dir(cls)):
        definer = next((base for base in cls.__mro__ if name in vars(base)), None)
        if name.startswith("_") or definer is None or not definer.__module__.startswith("unisono"):
            continue
        member = inspect.getattr_static(cls, name)
        public_bases = [base for base in cls.__mro__[1:] if base in _public_classes()]
        if any(inspect.getattr_static(base, name, None) is member for base in public_bases):
            continue
        if isinstance(member, property) or not callable(getattr(cls, name)):
            yield name
        else:
            yield f"{name}{_signature(getattr(cls, name))}"


def _signature(value: Any) -> str:
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        return ""  # Python's own, which differs between versions
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    # mypy checks annotations; how they are spelled depends on the version of Python.
    plain = [
        parameter.replace(annotation=inspect.Parameter.empty, default=_short(parameter.default))
        for parameter in signature.parameters.values()
    ]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _short(default: Any) -> Any:
    """The default if its text is the same in every process, else `...`."""
    plain = (type(None), bool, int, float, str, bytes, tuple, enum.Enum, type)
    return default if isinstance(default, plain) else ...


@functools.cache
def _public_classes() -> frozenset[type]:
    return frozenset(
        value
        for module in public_modules()
        for value in (getattr(module, name) for name in module.__all__)
        if inspect.isclass(value)
    )


if __name__ == "__main__":
    for public in public_modules():
        print(*describe(public), sep="\n")
    for optional in optional_api.MODULES:
        print(*optional_api.describe(optional), sep="\n")
