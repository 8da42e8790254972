"""Errors for names of TensorFlow that the namespace lacks, raised as soon as they are read or imported."""

from __future__ import annotations

import difflib
import dis
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, ModuleType
from typing import Final, NoReturn

from unisono.tf._missing_names import PRIVATE, PRIVATE_MODULES, advice_for, advice_for_package
from unisono.tf._tensorflow_names import (
    find_tensorflow_2_name,
    is_tensorflow_1_name,
    is_tensorflow_module,
    is_tensorflow_name,
)

PAGE: Final = "See docs/tf.md."
_PACKAGE: Final = "unisono."
_IMPORT_FROM: Final = dis.opmap["IMPORT_FROM"]


class MissingNameError(AttributeError):
    """A name of TensorFlow that the namespace lacks."""


class MissingImportError(ImportError):
    """The same for `from tensorflow import name`: Python drops the message of an AttributeError there."""


def explain_missing_names(module: str, depth: int = 1) -> Callable[[str], NoReturn]:
    """Returns the `__getattr__` of a module of the namespace, which users know as ``module``: "tf.math".

    ``depth`` is 2 if the module's own `__getattr__` calls the returned function.
    """

    def raise_missing(name: str) -> NoReturn:
        if name.startswith("__"):  # Python looks up many of these in modules
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        text = describe_missing_name(f"{module}.{name}")
        if _is_import_from(sys._getframe(depth)):
            raise MissingImportError(text, name=f"{module}.{name}")
        raise MissingNameError(text)

    return raise_missing


def describe_missing_name(name: str, among: Iterable[str] | None = None) -> str:
    """The message for a missing name: the reason or a replacement, else similar names, and the page of the docs.

    >>> describe_missing_name("tf.Print")
    'tf.Print is not available: use tf.print. See docs/tf.md.'

    Args:
        name: the dotted name.
        among: the names of its module; if None, they are looked up.
    """
    return f"{name} is not available: {_explain(name, among)} {PAGE}"


def _explain(name: str, among: Iterable[str] | None) -> str:
    known = advice_for(name) or advice_for_package(name)
    if known is not None:
        return known
    if name.startswith(PRIVATE_MODULES):
        return PRIVATE
    plain = name.replace("tf.compat.v1.", "tf.").replace("tf.compat.v2.", "tf.")
    new_name = find_tensorflow_2_name(plain)
    if new_name is not None and advice_for(new_name) is None:
        return f"TensorFlow 2 calls it {new_name}."
    similar = _similar_names(name, among)
    advice = f"similar names: {', '.join(similar)}." if similar else "no similar name exists."
    if is_tensorflow_name(plain):
        return f"Unisono leaves it out; {advice}"
    if is_tensorflow_1_name(plain):
        return f"it belongs to TensorFlow 1; {advice}"
    if is_tensorflow_module(plain.rpartition(".")[0]):
        return f"TensorFlow 2.21 has no such name either; {advice}"
    return advice


def _similar_names(name: str, among: Iterable[str] | None, count: int = 3) -> list[str]:
    """The most similar names: in the same module, then anywhere in the namespace by the last part of the name."""
    module, _, last = name.rpartition(".")
    module_here = sys.modules.get(_PACKAGE + module)
    if among is None:
        among = [] if module_here is None else [*_exported_names(module_here), *getattr(module_here, "__all__", ())]
    by_lower_case = {each.lower(): each for each in among if not each.startswith("_")}
    close = difflib.get_close_matches(last.lower(), by_lower_case, n=count, cutoff=0.7)
    found = [f"{module}.{by_lower_case[each]}" for each in close]
    found += [each for each in _find_elsewhere(last) if each not in found]
    return found[:count]


def _exported_names(module: ModuleType) -> list[str]:
    """The names that a module defines or re-exports, without Python's modules and their members."""
    origins = ((name, getattr(value, "__module__", None)) for name, value in vars(module).items())
    return [name for name, origin in origins if str(origin).partition(".")[0] not in sys.stdlib_module_names]


def _find_elsewhere(last: str) -> Iterator[str]:
    """Other modules of the namespace with this name, shortest first."""
    for module in sorted(sys.modules, key=len):
        public = (module + ".").startswith(_PACKAGE + "tf.") and "._" not in module
        if public and last in vars(sys.modules[module]):
            yield f"{module.removeprefix(_PACKAGE)}.{last}"


def _is_import_from(caller: FrameType | None) -> bool:
    """Whether a frame, or the caller behind frames of this package, is executing `from module import name`."""
    while caller is not None:
        if caller.f_lasti >= 0 and caller.f_code.co_code[caller.f_lasti] == _IMPORT_FROM:
            return True
        if not caller.f_globals.get("__name__", "").startswith(_PACKAGE):
            return False
        caller = caller.f_back
    return False
