"""Replaces and adds attributes of Keras, JAX, NumPy and Python, after checking that each original is the one expected.

A hook that lands on a renamed or rewritten original does nothing, or something else, without a word: gradients N times
too large, for example. So every hook says which original it expects, and refuses any other.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import inspect
import os
import platform
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from types import ModuleType
from typing import Any, Final, Literal

from unisono._src.hooks._originals import describe_original, matches

WRITTEN_FOR: Final[dict[str, tuple[str, ...]]] = {
    "keras": ("3.15.1",),
    "jax": ("0.10.2", "0.11.2", "0.12.0.1"),
    "jaxlib": ("0.10.2", "0.11.2", "0.12.0.1"),
    "numpy": ("2.4.6",),
    "sys": ("3.11", "3.12", "3.13"),
}
"""The versions whose originals were read when the hooks were written."""

_THIS_PACKAGE: Final = os.path.dirname(__file__)
_PACKAGE_ROOT: Final = os.path.dirname(os.path.dirname(os.path.dirname(_THIS_PACKAGE)))

MISMATCH = """The hook on {target} ({file}) does not fit the installed {library} {installed}; it was written for
{library} {written_for}.
    expected: {expected}
    found:    {found}
    needed because: {why}
Install {library} {written_for}, or look for another package that replaces {name!r} before Unisono is imported."""


class HookMismatchError(ImportError):
    """An attribute of Keras, JAX or Python is not the one that a hook was written for."""


@dataclass(frozen=True, kw_only=True)
class RegisteredHook:
    """One hook, as plain data.

    Attributes:
        owner: the class or module, with its full path.
        name: its attribute.
        kind: "patch" for a replaced attribute, "add" for a new one, "require" for one that is used as it is.
        expects: descriptions of the original, one of which must fit: a signature, "source HASH", "type NAME",
            "calls NAME", "instance attribute" for one that the methods of a class set, or "primitive NAME".
        written_for: the library and its versions, "Keras 3.15.1".
        why: what the hook is for.
        file: where it is, "unisono/_src/keras_hooks/_losses.py".
    """

    owner: str
    name: str
    kind: Literal["patch", "add", "require"]
    expects: tuple[str, ...]
    written_for: str
    why: str
    file: str


_registered: list[RegisteredHook] = []

# What require_primitives was given, until check_primitives.
_unchecked_primitives: list[RegisteredHook] = []

# What was there before the first hook, by owner and name: later hooks on the same attribute are checked against it too.
_stock: dict[tuple[int, str], tuple[Any, Any]] = {}

_mismatches: list[str] | None = None

_MISSING: Final = object()
_IMMUTABLE: Final = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
_PRIMITIVE: Final = "jax.extend.core.Primitive"


def registered_hooks() -> list[RegisteredHook]:
    """All hooks so far, in the order of their installation. Those of `unisono.tf` are there once it is imported."""
    return list(_registered)


def patch(
    owner: Any, name: str, replacement: Any, *, expects: str | Sequence[str], why: str, inherited: bool = False
) -> None:
    """Replaces ``owner.name``.

    Args:
        owner: a class or module of Keras or JAX.
        name: the attribute.
        replacement: the new value.
        expects: what identifies the original, see :class:`RegisteredHook`; several for several versions.
        why: what the hook is for, in one sentence.
        inherited: whether a class has the original from one of its bases. Else it must define it itself: what is
            left after a method has moved is often one of the same name that only raises.

    Raises:
        HookMismatchError: the original is missing or a different one.
    """
    wrap(owner, name, lambda original: replacement, expects=expects, why=why, inherited=inherited)


def wrap(
    owner: Any,
    name: str,
    make: Callable[[Any], Any],
    *,
    expects: str | Sequence[str],
    why: str,
    inherited: bool = False,
) -> None:
    """Replaces ``owner.name`` with ``make(original)``; see :func:`patch`.

    A function gets the name, documentation and signature of its original unless it sets a `__signature__` itself.
    """
    hook = _describe(owner, name, "patch", expects, why)
    if isinstance(owner, type) and not inherited and name not in vars(owner):
        _refuse(hook, " or ".join(hook.expects), "nothing of this name in the class itself")
        return
    if _check(owner, hook) is _MISSING:
        return
    current = _static(owner, name)
    original: Any = current if isinstance(current, property) else getattr(owner, name)
    replacement = make(original)
    if inspect.isfunction(replacement) and not hasattr(replacement, "__wrapped__"):
        functools.update_wrapper(replacement, original)
    setattr(owner, name, replacement)


def add(owner: Any, name: str, value: Any, *, why: str) -> None:
    """Gives ``owner`` an attribute that it does not have; a :class:`HookMismatchError` if it has one by now."""
    hook = _describe(owner, name, "add", (), why)
    there = _static(owner, name)
    inherited_from_object = isinstance(owner, type) and there is inspect.getattr_static(object, name, None)
    if there is not _MISSING and not inherited_from_object:
        _refuse(hook, "no such attribute", describe_original(there, "type"))
    _registered.append(hook)
    if isinstance(owner, type) and owner.__flags__ & _IMMUTABLE:
        _add_to_immutable(owner, name, value)
    else:
        setattr(owner, name, value)


def require(
    owner: Any, name: str, *, expects: str | Sequence[str], why: str, works: Callable[[], bool] | None = None
) -> None:
    """Checks an attribute that Unisono uses without replacing it, and with ``works`` that it does what it is used for.

    A class has "instance attribute" for what its methods set on `self`.
    """
    hook = _describe(owner, name, "require", expects, why)
    if expects == "instance attribute":
        _registered.append(hook)
        if not _is_set_by_methods(owner, name):
            _refuse(hook, f"methods that use self.{name}", "no method that does")
    elif _check(owner, hook) is not _MISSING and works is not None:
        try:
            found = None if works() else "it does not"
        except Exception as error:  # what it uses has changed
            found = f"{type(error).__name__}: {error}"
        if found:
            _refuse(hook, why, found)


def require_primitives(*names: str | tuple[str, ...], why: str) -> frozenset[str]:
    """Called at the top of a module that looks for primitives of JAX in traced programs by their names.

    :func:`check_primitives` refuses those that the installed JAX does not have. Of a primitive that was renamed, the
    module would find no equation, and change nothing without a word.

    Args:
        names: one for each primitive; a tuple for one that has other names in other versions of JAX.
        why: what the module does with their equations, in one sentence.

    Returns:
        All names, to compare with.
    """
    file = _calling_file()
    several = [(each,) if isinstance(each, str) else each for each in names]
    _unchecked_primitives.extend(
        RegisteredHook(
            owner=_PRIMITIVE,
            name=each[0],
            kind="require",
            expects=tuple(f"primitive {name}" for name in each),
            written_for=_written_for("jax"),
            why=why,
            file=file,
        )
        for each in several
    )
    return frozenset(name for each in several for name in each)


def check_primitives(installed: Collection[str]) -> None:
    """Checks what :func:`require_primitives` was given; ``installed`` are the names of all primitives of JAX."""
    for hook in _unchecked_primitives:
        if not any(each.removeprefix("primitive ") in installed for each in hook.expects):
            _refuse(hook, " or ".join(hook.expects), "no primitive of this name")
        else:
            _registered.append(hook)
    _unchecked_primitives.clear()


@contextlib.contextmanager
def collect_mismatches() -> Iterator[list[str]]:
    """Inside, hooks that do not fit are listed, not refused: to see at once what a new Keras or JAX changed."""
    global _mismatches
    _mismatches = []
    try:
        yield _mismatches
    finally:
        _mismatches = None


def _describe(owner: Any, name: str, kind: Any, expects: str | Sequence[str], why: str) -> RegisteredHook:
    path = _path_of(owner)
    library = path.split(".")[0]
    return RegisteredHook(
        owner=path,
        name=name,
        kind=kind,
        expects=(expects,) if isinstance(expects, str) else tuple(expects),
        written_for=_written_for(library),
        why=why,
        file=_calling_file(),
    )


def _written_for(library: str) -> str:
    return f"{_title(library)} {', '.join(WRITTEN_FOR.get(library, ('?',)))}"


def _path_of(owner: Any) -> str:
    if isinstance(owner, ModuleType):
        return owner.__name__
    if isinstance(owner, type):
        return f"{owner.__module__}.{owner.__qualname__}"
    return f"{type(owner).__module__}.{vars(owner)['name'].split('.')[-1]}"  # a lazy module


def _check(owner: Any, hook: RegisteredHook) -> Any:
    """Registers the hook and returns the stock original; raises, or returns ``_MISSING``, if it does not fit."""
    key = (id(owner), hook.name)
    _, stock = _stock.get(key, (owner, _static(owner, hook.name)))
    if stock is _MISSING:
        _refuse(hook, " or ".join(hook.expects), "nothing of this name")
        return _MISSING
    verdicts = [matches(stock, each) for each in hook.expects]
    if True not in verdicts:
        library = hook.owner.split(".")[0]
        known = None in verdicts and _installed_version(library) in WRITTEN_FOR.get(library, ())
        if not known:  # without source files, the version alone decides
            _refuse(hook, " or ".join(hook.expects), describe_original(stock, hook.expects[0]))
    _registered.append(hook)
    if hook.kind == "patch":
        _stock[key] = (owner, stock)
    return stock


def _refuse(hook: RegisteredHook, expected: str, found: str) -> None:
    library = hook.owner.split(".")[0]
    text = MISMATCH.format(
        target=f"{hook.owner}.{hook.name}",
        file=hook.file,
        library=_title(library),
        installed=_installed_version(library),
        written_for=", ".join(WRITTEN_FOR.get(library, ("?",))),
        expected=expected,
        found=found,
        why=hook.why,
        name=hook.name,
    )
    if _mismatches is None:
        raise HookMismatchError(text)
    _mismatches.append(text)


def _is_set_by_methods(owner: type, name: str) -> bool:
    functions = [each for kind in owner.__mro__ for each in vars(kind).values() if inspect.isfunction(each)]
    return any(name in inspect.unwrap(each).__code__.co_names for each in functions)


def _add_to_immutable(owner: type, name: str, value: Any) -> None:
    """Adds an attribute to a class of C code, `numpy.dtype` for example, which has no other way to add one.

    `__dict__` is a read-only view; the dict behind it is the only object that the view refers to.
    """
    (names,) = gc.get_referents(vars(owner))
    names[name] = value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(owner))  # else Python may use what it has cached


def _static(owner: Any, name: str) -> Any:
    if isinstance(owner, ModuleType):
        return getattr(owner, name, _MISSING)
    return inspect.getattr_static(owner, name, _MISSING)


def _installed_version(library: str) -> str:
    if library == "sys":
        return platform.python_version()
    version = getattr(sys.modules.get(library), "__version__", None)
    return str(version or metadata.version(library))


def _title(library: str) -> str:
    return {"keras": "Keras", "jax": "JAX", "numpy": "NumPy", "sys": "Python"}.get(library, library)


def _calling_file() -> str:
    """The file of the hook: the first one outside this package on the stack."""
    frame: Any = sys._getframe(1)
    while os.path.dirname(frame.f_code.co_filename) == _THIS_PACKAGE:
        frame = frame.f_back
    path: str = frame.f_code.co_filename
    return path.removeprefix(_PACKAGE_ROOT + os.sep).replace(os.sep, "/")
