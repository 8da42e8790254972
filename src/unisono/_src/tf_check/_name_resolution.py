"""Resolves dotted names, as scripts have them, to objects of the namespace. Runs nothing of the script."""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import inspect
import sys
import textwrap
import types
import typing
from types import ModuleType
from typing import Any, Final

import keras

from unisono.tf._missing import MissingNameError, describe_missing_name

ROOTS: Final = {"tf": "unisono.tf", "keras": "keras", "tfds": "unisono.tfds"}
_UNSUPPORTED: Final = "Not supported. "  # docstrings of tf/_unsupported.py start with it
_HIDDEN: Final = object()  # a member that instances have and their class does not


def resolve(name: str) -> Any:
    """The object: a module, a class, a function, a member of a class; MissingNameError if it is not available.

    >>> resolve("tf.data.Dataset.batch").__name__
    'batch'
    """
    root, *parts = name.split(".")
    found: Any = importlib.import_module(ROOTS[root])
    path = root
    for part in parts:
        path = f"{path}.{part}"
        found = _member(found, part, path)
    return found


def refusal_reason(value: Any) -> str | None:
    """Why an object refuses to be called; None if it does not."""
    text = getattr(value, "__doc__", None) if callable(value) else None
    return text.removeprefix(_UNSUPPORTED) if isinstance(text, str) and text.startswith(_UNSUPPORTED) else None


def has_identity(value: Any) -> bool:
    """Whether an object is identified by `id`: not a number or text, which may be equal by accident."""
    return value is not _HIDDEN and not isinstance(value, str | bytes | int | float | tuple | list | dict | None)


def may_have_members(name: str) -> bool:
    """Whether this name may have members: a module, a class, or a name that is not available."""
    try:
        return isinstance(resolve(name), ModuleType | type)
    except MissingNameError:
        return True


def result_class_name(name: str) -> str | None:
    """The name of the class of the result of a call, if the class or an annotation shows it.

    >>> result_class_name("tf.data.Dataset.from_tensors")
    'tf.data.Dataset'
    """
    try:
        called = resolve(name)
    except MissingNameError:
        return None
    return name if isinstance(called, type) else _annotated_class(called, name)


def property_class_name(name: str) -> str | None:
    """The name of the class of a property's value, if its annotation shows it."""
    try:
        found = resolve(name)
    except MissingNameError:
        return None
    return _annotated_class(found.fget, name) if isinstance(found, property) else None


def callback_argument_classes(name: str, position: int | str) -> list[str | None]:
    """The names of the classes of the arguments that a function gets which is passed as this argument, if known.

    >>> callback_argument_classes("tf.distribute.Strategy.distribute_datasets_from_function", 0)
    ['tf.distribute.InputContext']

    Args:
        name: what the function is passed to.
        position: the index of the argument, or its keyword.
    """
    try:
        called = resolve(name)
        hints = _type_hints(called)
    except (AttributeError, NameError, TypeError):
        return []
    if isinstance(position, int):
        names = [each for each in keyword_parameters(called) or [] if each != "self"]
        position = names[position] if position < len(names) else ""
    arguments = typing.get_args(hints.get(position))
    argument_types = arguments[0] if arguments and isinstance(arguments[0], list) else []
    return [_public_name(each) for each in argument_types]


def keyword_parameters(value: Any) -> list[str] | None:
    """The names of the keyword arguments it takes; None if it takes any, or if that is unknown."""
    wrapped = getattr(value, "__wrapped__", None)
    is_keras_wrapper = getattr(wrapped, "__module__", "").startswith("keras.")
    try:
        # A wrapper around a function of Keras takes the arguments of Keras 2 as well.
        found = inspect.signature(value, follow_wrapped=not is_keras_wrapper).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(each.kind is each.VAR_KEYWORD for each in found):
        return None
    return [
        each.name for each in found if each.kind is not each.POSITIONAL_ONLY and each.kind is not each.VAR_POSITIONAL
    ]


def _type_hints(function: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except NameError:  # a class that its module imports for type checkers only
        return typing.get_type_hints(
            function, localns={each.__name__: each for each in _public_classes(len(sys.modules))}
        )


def _annotated_class(function: Any, name: str) -> str | None:
    """The class in the annotation of the result."""
    try:
        annotation = _type_hints(function).get("return")
    except (AttributeError, NameError, TypeError):  # annotations that only a type checker can evaluate
        return None
    if annotation is typing.Self:
        return name.rpartition(".")[0]
    return _public_name(annotation) or _known_keras_result(function)


def _public_name(annotation: Any) -> str | None:
    """The name of the class in an annotation; of `X | None`, X."""
    some = [each for each in typing.get_args(annotation) if each is not type(None)]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType) and len(some) == 1:
        (annotation,) = some
    annotation = typing.get_origin(annotation) or annotation
    return _public_classes(len(sys.modules)).get(annotation) if isinstance(annotation, type) else None


def _member(owner: Any, name: str, path: str) -> Any:
    missing: MissingNameError | None = None
    try:
        return getattr(owner, name)
    except MissingNameError as error:  # the module or the class explains the name itself
        missing = error
    except AttributeError:
        if isinstance(owner, type) and refusal_reason(owner) is None:
            result = _class_of_call(owner)
            if result is not owner:
                return _HIDDEN if result is Any or not isinstance(result, type) else _member(result, name, path)
            message = getattr(owner, "DESCRIPTOR", None)  # classes of protobuf do not show the fields of messages
            if message is not None and name in message.fields_by_name:
                return _HIDDEN
            if name in _set_on_self(owner) or hasattr(owner, "__getattr__"):
                return _HIDDEN
            if name == "history" and issubclass(owner, keras.Model):  # `fit` sets it
                return _HIDDEN
            if owner is keras.Model:
                return _member(_functional_model_class(), name, path)
        elif refusal_reason(owner) is not None:
            missing = MissingNameError(f"{path} is not available: {refusal_reason(owner)}")
        elif not isinstance(owner, ModuleType):
            return _HIDDEN
    if isinstance(owner, ModuleType):
        with contextlib.suppress(ModuleNotFoundError):  # a submodule that was not imported yet
            return importlib.import_module(f"{owner.__name__}.{name}")
    raise missing or MissingNameError(describe_missing_name(path, [*dir(owner), *getattr(owner, "__all__", ())]))


def _class_of_call(owner: type) -> Any:
    """The class of what calling a class returns: itself, or the one in the annotation of its `__new__`."""
    maker = vars(owner).get("__new__")
    try:
        annotated = typing.get_type_hints(getattr(maker, "__func__", maker)).get("return", owner) if maker else owner
    except NameError:  # that of a named tuple, which is generated from text
        return owner
    return owner if annotated is typing.Self else annotated


@functools.cache
def _functional_model_class() -> type:
    """The class of `keras.Model(inputs, outputs)`, which has no public name."""
    inputs = keras.Input((1,))
    return type(keras.Model(inputs, inputs))


@functools.cache
def _set_on_self(owner: type) -> frozenset[str]:
    """The attributes that instances get: those annotated in the class, and those its methods assign."""
    names: set[str] = set()
    for base in owner.__mro__:
        names.update(vars(base).get("__annotations__", ()))
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
        except (OSError, TypeError):  # written in C, or created by a function
            continue
        names.update(
            node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        )
    return frozenset(names)


@functools.cache
def _public_classes(modules: int) -> dict[type, str]:
    """The shortest public name of each class of the namespace. ``modules`` is the number of imported ones, for the
    cache.
    """
    found: dict[type, str] = {}
    for module in sorted(
        (each for each in sys.modules if (each + ".").startswith("unisono.tf.")), key=len, reverse=True
    ):
        if any(part.startswith("_") for part in module.split(".")):
            continue
        for name, value in vars(sys.modules[module]).items():
            # Not typing.Any, which files behind the modules import.
            if isinstance(value, type) and not name.startswith("_") and value.__module__ not in sys.stdlib_module_names:
                found[value] = f"{module.removeprefix('unisono.')}.{name}"
    for public, name in list(found.items()):
        for base in public.__mro__:  # a class of the core has the name of the namespace's subclass
            if base.__name__ == public.__name__:
                found.setdefault(base, name)
    return found


def _known_keras_result(function: Any) -> str | None:
    """The classes that functions of Keras return, which have no annotations."""
    module = getattr(function, "__module__", "")
    name = getattr(function, "__name__", "")
    if name in ("load_model", "clone_model") or module.startswith("keras.src.applications"):
        return "tf.keras.Model"
    return "tf.keras.callbacks.History" if name == "fit" else None
