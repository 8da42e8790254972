"""Names of TensorFlow that are not there: what is said of them, at once, when they are read or imported."""

from __future__ import annotations

import difflib
import dis
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, ModuleType
from typing import Final, NoReturn

from unisono.tf._missing_names import MISSING_PACKAGES, advice_for
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
    """A name of TensorFlow that the namespace does not have."""


class MissingImportError(ImportError):
    """The same for `from tensorflow import name`: of an AttributeError Python would tell the name alone."""


def explain_missing_names(module: str, depth: int = 1) -> Callable[[str], NoReturn]:
    """The `__getattr__` of a module of the namespace, whose name is ``module`` for users: "tf.math".

    ``depth`` is 2 for one that is called by the module's own `__getattr__`.
    """

    def missing(name: str) -> NoReturn:
        if name.startswith("__"):  # Python asks modules for many of these
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        text = describe_missing_name(f"{module}.{name}")
        if _by_import(sys._getframe(depth)):
            raise MissingImportError(text, name=f"{module}.{name}")
        raise MissingNameError(text)

    return missing


def describe_missing_module(name: str) -> str:
    """The text of the error of `import tensorflow.estimator`, by the name that users write: "tf.estimator"."""
    return describe_missing_name(name)


def describe_missing_name(name: str, among: Iterable[str] | None = None) -> str:
    """What is not available, why or what to use instead, else the names that are nearest, and the page of the docs.

    >>> describe_missing_name("tf.Print")
    'tf.Print is not available: use tf.print. See docs/tf.md.'

    Args:
        name: the dotted name.
        among: the names that are there beside it; if None, those of its module.
    """
    return f"{name} is not available: {_why(name, among)} {PAGE}"


def _why(name: str, among: Iterable[str] | None) -> str:
    known = advice_for(name) or MISSING_PACKAGES.get(name.partition(".")[0])
    if known is not None:
        return known
    plain = name.replace("tf.compat.v1.", "tf.").replace("tf.compat.v2.", "tf.")
    moved = find_tensorflow_2_name(plain)
    if moved is not None and advice_for(moved) is None:
        return f"TensorFlow 2 calls it {moved}."
    near = _nearest(name, among)
    advice = f"the nearest here: {', '.join(near)}." if near else "nothing here has a name like it."
    if is_tensorflow_name(plain):
        return f"Unisono leaves it out; {advice}"
    if is_tensorflow_1_name(plain):
        return f"it belongs to TensorFlow 1; {advice}"
    if is_tensorflow_module(plain.rpartition(".")[0]):
        return f"TensorFlow 2.21 has no such name either; {advice}"
    return advice


def _nearest(name: str, among: Iterable[str] | None, count: int = 3) -> list[str]:
    """The names that are there and look most like it: beside it, then anywhere under the last part of the name."""
    module, _, last = name.rpartition(".")
    there = sys.modules.get(_PACKAGE + module)
    if among is None:
        among = [] if there is None else [*_own_names(there), *getattr(there, "__all__", ())]
    small = {each.lower(): each for each in among if not each.startswith("_")}
    close = difflib.get_close_matches(last.lower(), small, n=count, cutoff=0.7)
    found = [f"{module}.{small[each]}" for each in close]
    found += [each for each in _elsewhere(last) if each not in found]
    return found[:count]


def _own_names(module: ModuleType) -> list[str]:
    """The names that are a module's own: not those of Python's modules that it imports."""
    origins = ((name, getattr(value, "__module__", None)) for name, value in vars(module).items())
    return [name for name, origin in origins if str(origin).partition(".")[0] not in sys.stdlib_module_names]


def _elsewhere(last: str) -> Iterator[str]:
    """Where else in the namespace there is something of this name, shortest first."""
    for module in sorted(sys.modules, key=len):
        public = (module + ".").startswith(_PACKAGE + "tf.") and "._" not in module
        if public and last in vars(sys.modules[module]):
            yield f"{module.removeprefix(_PACKAGE)}.{last}"


def _by_import(caller: FrameType | None) -> bool:
    """Whether a frame, or the one that came through this package to it, is just now doing `from module import name`."""
    while caller is not None:
        if caller.f_lasti >= 0 and caller.f_code.co_code[caller.f_lasti] == _IMPORT_FROM:
            return True
        if not caller.f_globals.get("__name__", "").startswith(_PACKAGE):
            return False
        caller = caller.f_back
    return False
