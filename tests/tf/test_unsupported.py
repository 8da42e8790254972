"""Functions that only raise say so in their docstring, where `unisono tf-check` reads it."""

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

import unisono.tf as tf
from unisono._src.tf_check._name_resolution import refusal_reason


def test_docstrings_of_functions_that_only_raise_start_with_not_supported() -> None:
    functions = dict(_public_functions())
    assert {"tf.keras.backend.placeholder", "tf.TensorArray.grad"} <= functions.keys()
    raising = {name: refusal_reason(each) for name, each in functions.items() if _only_raises(each)}
    assert len(raising) > 10
    assert [name for name, why in raising.items() if why is None] == []


@pytest.mark.parametrize("unsupported", [tf.keras.backend.placeholder, tf.keras.models.model_from_yaml])
def test_an_unsupported_function_says_what_to_use_instead(unsupported: FunctionType) -> None:
    with pytest.raises((NotImplementedError, RuntimeError), match=r"(is|are) not available") as error:
        unsupported("x")
    assert "Use " in str(error.value)


def _public_functions() -> Iterator[tuple[str, FunctionType]]:
    """Functions and methods, by the names of the modules of the namespace that users write."""
    for module in pkgutil.walk_packages(tf.__path__, "unisono.tf."):
        if "._" not in module.name:
            importlib.import_module(module.name)
    public = [name for name in sys.modules if (name + ".").startswith("unisono.tf.") and "._" not in name]
    for module_name in public:
        short = module_name.removeprefix("unisono.")
        for name, value in vars(sys.modules[module_name]).items():
            if name.startswith("_") or not str(getattr(value, "__module__", "")).startswith("unisono"):
                continue
            if isinstance(value, FunctionType):
                yield f"{short}.{name}", value
            elif inspect.isclass(value) and refusal_reason(value) is None:
                for member, method in vars(value).items():
                    if isinstance(method, FunctionType) and not member.startswith("_"):
                        yield f"{short}.{name}.{member}", method


_raising: dict[str, set[int]] = {}


def _only_raises(function: FunctionType) -> bool:
    file = function.__code__.co_filename
    if file not in _raising:
        found = ast.walk(ast.parse(Path(file).read_text()))
        _raising[file] = {_first_line(each) for each in found if isinstance(each, ast.FunctionDef) and _is_raise(each)}
    return function.__code__.co_firstlineno in _raising[file]


def _first_line(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


def _is_raise(function: ast.FunctionDef) -> bool:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return len(body) == 1 and isinstance(body[0], ast.Raise)
