"""For each hook, in a process of its own: what becomes of it when its original was renamed or rewritten.

Prints a line for each hook that installs nevertheless, or that fails in any other way than by naming itself. All take
half a minute; with --sample, every eighth one is tried.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from .uninstalled import import_without_hooks

Move = Callable[[Any, str], None]


def main(step: int) -> None:
    """Tries every ``step``-th hook; ends with the number of tries."""
    install_all = import_without_hooks()
    tried = 0
    for owner, name, kind, expects in _list_hooks(install_all)[::step]:
        for move in _moves(kind, expects):
            tried += 1
            complaint = _try(install_all, owner, name, move)
            if complaint:
                print(f"{owner}.{name} ({move.__name__}): {complaint}")
    print(f"tried {tried}")


def _moves(kind: str, expects: str) -> list[Move]:
    if kind == "add":
        return [_add]
    if expects == "instance attribute":
        return [_rename_in_methods]
    return [_remove] if expects.startswith(("type", "calls")) else [_remove, _rewrite]


def _remove(owner: Any, name: str) -> None:
    holder = owner
    if isinstance(owner, type):
        holder = next(kind for kind in owner.__mro__ if name in vars(kind))
    delattr(holder, name)


def _rewrite(owner: Any, name: str) -> None:
    original = inspect.getattr_static(owner, name)

    def rewritten(*moved: Any) -> Any:
        raise NotImplementedError(name)

    setattr(owner, name, property(rewritten) if isinstance(original, property) else rewritten)


def _add(owner: Any, name: str) -> None:
    setattr(owner, name, "there already")


def _rename_in_methods(owner: Any, name: str) -> None:
    for kind in owner.__mro__:
        for function in vars(kind).values():
            if inspect.isfunction(function):
                plain = inspect.unwrap(function)
                plain.__code__ = _renamed(plain.__code__, name)


def _renamed(code: CodeType, name: str) -> CodeType:
    return code.replace(co_names=tuple("moved" if each == name else each for each in code.co_names))


def _list_hooks(install_all: Callable[[], None]) -> list[tuple[str, str, str, str]]:
    """(owner, name, kind, first expectation) of all hooks, without those that come twice."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        from unisono._src import hooks

        install_all()
        found = {(each.owner, each.name, each.kind, *each.expects[:1]): None for each in hooks.registered_hooks()}
        with os.fdopen(writer, "w") as file:
            file.writelines("\t".join(each) + "\n" for each in found)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    os.wait()
    return [(row[0], row[1], row[2], row[3] if len(row) > 3 else "") for row in rows]


def _try(install_all: Callable[[], None], owner: str, name: str, move: Move) -> str:
    reader, writer = os.pipe()
    if os.fork() == 0:
        from unisono._src import hooks

        move(_resolve(owner), name)
        try:
            install_all()
            complaint = "was installed"
        except hooks.HookMismatchError as error:
            # Classes may have it from one base: then the first of them is named. And another hook may have used it
            # first, to see whether it works: then that one is named, with the error that it got.
            is_named = re.search(rf"\b{name}\b|found: +\w+Error: ", str(error))
            complaint = "" if is_named and "written for" in str(error) else str(error)
        except BaseException:
            complaint = traceback.format_exc()
        os.write(writer, complaint.encode()[-60000:])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        complaint = file.read().decode()
    os.wait()
    return complaint


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
    main(step=8 if "--sample" in sys.argv else 1)
