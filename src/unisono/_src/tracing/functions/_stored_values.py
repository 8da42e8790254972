"""Traced values that a method stored on its object: after the trace they are replaced by what says so when it is used.

TensorFlow does not complain about the assignment either: many models store attention weights or a last loss that
nothing reads afterwards.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import jax
import keras

from unisono._src.tracing.functions._errors import StoredValueError, TracedValueError

STORED = """{path} was assigned inside a compiled function, {function}. What was stored there is no number, but a
value of the program while it was traced: it cannot be used outside, or in another call.
Return it from the function, or keep it in a variable:
    {path} = tf.Variable(tf.zeros({shape}), trainable=False)   # before
    {path}.assign(...)                                         # in the function"""

_MAX_DEPTH = 4
_MAX_SEARCHED = 1000  # entries of a list: longer ones are data, and are not searched at every trace
_PACKAGE = str(Path(__file__).parents[3])


class StoredValue:
    """Stands for a traced value after its trace has ended. Knows its shape and dtype; any other use is an error."""

    def __init__(self, path: str, function: str, value: Any) -> None:
        self.shape, self.dtype = value.shape, value.dtype
        self._message = STORED.format(path=path, function=function, shape=list(value.shape))

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") and name != "__jax_array__":  # Python and NumPy ask for protocols that arrays lack
            raise AttributeError(name)
        kind = StoredValueError if name == "numpy" else TracedValueError
        raise kind(self.__dict__.get("_message", ""))

    def __repr__(self) -> str:
        return (
            f"<a traced value of shape {tuple(self.shape)} and dtype {self.dtype}, not available outside its function>"
        )


def _refuse(self: StoredValue, *args: Any) -> NoReturn:
    raise TracedValueError(self._message)


_OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"]
_METHODS = [
    *(f"__{name}__" for name in _OPERATORS),
    *(f"__r{name}__" for name in _OPERATORS),
    *(f"__{name}__" for name in ("lt", "le", "gt", "ge", "neg", "abs", "getitem", "len", "iter", "bool", "float")),
    *(f"__{name}__" for name in ("int", "index", "format", "array", "jax_array")),
]
for _name in _METHODS:
    setattr(StoredValue, _name, _refuse)


def replace_stored_values(function: Callable[..., Any]) -> None:
    """Replaces traced values that a function stored, after it was traced: in the attributes of a method's object, and
    in the names of the enclosing functions and of its module that it uses."""
    name, seen = getattr(function, "__qualname__", repr(function)), set[int]()
    holder = getattr(function, "__self__", None)
    if holder is not None:
        _replace_attributes(holder, "self", name, seen, 0)
    code_owner = getattr(function, "__func__", function)
    code = getattr(code_owner, "__code__", None)
    if code is None:
        return
    for variable, cell in zip(code.co_freevars, code_owner.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # not assigned yet
            if isinstance(cell.cell_contents, jax.core.Tracer):
                cell.cell_contents = StoredValue(variable, name, cell.cell_contents)
            else:
                _replace_inside(cell.cell_contents, variable, name, seen, 0)
    names = code_owner.__globals__
    for variable in code.co_names:
        if isinstance(names.get(variable), jax.core.Tracer):
            names[variable] = StoredValue(variable, name, names[variable])
        else:
            _replace_inside(names.get(variable), variable, name, seen, 0)


def _replace_attributes(holder: Any, path: str, function: str, seen: set[int], depth: int) -> None:
    attributes = getattr(holder, "__dict__", None)
    if attributes is None or id(holder) in seen or depth > _MAX_DEPTH:
        return
    seen.add(id(holder))
    for name, value in list(attributes.items()):
        if isinstance(value, jax.core.Tracer):
            object.__setattr__(holder, name, StoredValue(f"{path}.{name}", function, value))
        elif not name.startswith("_"):
            _replace_inside(value, f"{path}.{name}", function, seen, depth + 1)


def _replace_inside(value: Any, path: str, function: str, seen: set[int], depth: int) -> None:
    if isinstance(value, list | dict):
        if depth > _MAX_DEPTH or id(value) in seen or len(value) > _MAX_SEARCHED:
            return
        seen.add(id(value))
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            each, inner = value[key], f"{path}[{key!r}]"
            if isinstance(each, jax.core.Tracer):
                operator.setitem(value, key, StoredValue(inner, function, each))
            else:
                _replace_inside(each, inner, function, seen, depth + 1)
    elif isinstance(value, keras.Layer) or hasattr(type(value), "with_name_scope") or _is_user_object(value):
        _replace_attributes(value, path, function, seen, depth)


def _is_user_object(value: Any) -> bool:
    """Whether it is an object of a class of the user's own, not of an installed package or of Python's library."""
    module = sys.modules.get(type(value).__module__)
    file = getattr(module, "__file__", None)
    return file is not None and not isinstance(value, type) and not _is_installed(file)


@functools.cache
def _is_installed(file: str) -> bool:
    library = sysconfig.get_paths()["stdlib"]
    return "site-packages" in file or "dist-packages" in file or file.startswith((library, _PACKAGE))
