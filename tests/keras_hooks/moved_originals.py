"""For each hook, in a process of its own: what becomes of it when its original was renamed or rewritten.

Prints a line for each hook that installs nevertheless, or that fails in any other way than by naming itself. With
--sample, every 16th one is tried.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from .uninstalled import import_without_hooks


class Hook(NamedTuple):
    """What is known of a hook before it is installed."""

    owner: str
    name: str
    kind: str
    expects: tuple[str, ...]


# Without these JAX itself does not work, and the first hook that tries it is named.
_USED_BY_JAX = frozenset({("jax._src.core.ShapedArray", "__new__")})

Move = Callable[[Any, Hook], None]


def main(step: int) -> None:
    """Tries every ``step``-th hook; ends with the number of tries."""
    install_all = import_without_hooks()
    tried = 0
    for hook in _list_hooks(install_all)[::step]:
        for move in _moves(hook):
            tried += 1
            complaint = _try(install_all, hook, move)
            if complaint:
                print(f"{hook.owner}.{hook.name} ({move.__name__}): {complaint}")
    print(f"tried {tried}")


def _moves(hook: Hook) -> list[Move]:
    if hook.kind == "add":
        return [_add]
    expected = hook.expects[0]
    if expected.startswith("primitive"):
        return [_rename_primitive]
    if expected == "instance attribute":
        return [_rename_in_methods]
    return [_remove] if expected.startswith(("type", "calls")) else [_remove, _rewrite]


def _remove(owner: Any, hook: Hook) -> None:
    holder = owner
    if isinstance(owner, type):
        holder = next(kind for kind in owner.__mro__ if hook.name in vars(kind))
    delattr(holder, hook.name)


def _rewrite(owner: Any, hook: Hook) -> None:
    original = inspect.getattr_static(owner, hook.name)

    def rewritten(*moved: Any) -> Any:
        raise NotImplementedError(hook.name)

    setattr(owner, hook.name, property(rewritten) if isinstance(original, property) else rewritten)


def _add(owner: Any, hook: Hook) -> None:
    if owner is np.dtype:  # an immutable class
        gc.get_referents(vars(owner))[0][hook.name] = "there already"
    else:
        setattr(owner, hook.name, "there already")


def _rename_primitive(owner: Any, hook: Hook) -> None:
    from jax.interpreters import mlir

    for table in (mlir._lowerings, *mlir._platform_specific_lowerings.values()):
        for primitive in table:
            if f"primitive {primitive.name}" in hook.expects:
                primitive.name = "moved"


def _rename_in_methods(owner: Any, hook: Hook) -> None:
    for kind in owner.__mro__:
        for function in vars(kind).values():
            if inspect.isfunction(function):
                plain = inspect.unwrap(function)
                plain.__code__ = _renamed(plain.__code__, hook.name)


def _renamed(code: CodeType, name: str) -> CodeType:
    return code.replace(co_names=tuple("moved" if each == name else each for each in code.co_names))


def _list_hooks(install_all: Callable[[], None]) -> list[Hook]:
    """All hooks, without those that come twice."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        from unisono._src import hooks

        install_all()
        found = {(each.owner, each.name, each.kind, *each.expects): None for each in hooks.registered_hooks()}
        with os.fdopen(writer, "w") as file:
            file.writelines("\t".join(each) + "\n" for each in found)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    os.wait()
    return [Hook(row[0], row[1], row[2], tuple(row[3:])) for row in rows]


def _try(install_all: Callable[[], None], hook: Hook, move: Move) -> str:
    reader, writer = os.pipe()
    if os.fork() == 0:
        from unisono._src import hooks

        owner = _resolve(hook.owner)
        holder = _holder(owner, hook.name)
        move(owner, hook)
        try:
            install_all()
            complaint = "was installed"
        except hooks.HookMismatchError as error:
            complaint = "" if _is_named(owner, holder, hook, str(error)) and "written for" in str(error) else str(error)
        except BaseException:
            complaint = traceback.format_exc()
        os.write(writer, complaint.encode()[-60000:])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        complaint = file.read().decode()
    os.wait()
    return complaint


def _is_named(owner: Any, holder: Any, hook: Hook, error: str) -> bool:
    """Whether the error names the hook, or another one that needs the same attribute."""
    found = re.match(r"The hook on (\S+)\.(\S+) \(", error)
    assert found is not None, error
    if found[2] == hook.name:
        # Several classes have it from one base: the first of them that has a hook is named.
        named = _resolve(found[1])
        return named is owner or (isinstance(named, type) and (issubclass(named, holder) or issubclass(owner, named)))
    # Another hook has used it, to see whether it works, and says which attribute it did not find.
    attribute = ".*" if (hook.owner, hook.name) in _USED_BY_JAX else rf".*\b{re.escape(hook.name)}\b"
    return re.search(rf"found: +\w+Error: {attribute}", error) is not None


def _holder(owner: Any, name: str) -> Any:
    """The class that ``owner`` has the attribute from; ``owner`` itself for modules and instance attributes."""
    kinds = owner.__mro__ if isinstance(owner, type) else ()
    return next((kind for kind in kinds if name in vars(kind)), owner)


def _resolve(path: str) -> Any:
    """A module, a class in one, or an object in one."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        if isinstance(found, ModuleType) and end < len(parts):
            continue
        return found
    raise LookupError(path)


if __name__ == "__main__":
    main(step=16 if "--sample" in sys.argv else 1)
