"""Fields of an ExtensionType: their annotations, and values that fit them."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import jax
import keras
import numpy as np

from unisono import data
from unisono.tf._composite import CompositeTensor
from unisono.tf._dtypes import DType, as_dtype
from unisono.tf._shape import TensorShape
from unisono.tf._tensors import HostTensor, Tensor, convert_to_tensor

WRONG_TYPE = "{where} is {value!r}. Expected {expected}."
NO_LISTS = "{where}: lists can be changed, and fields cannot. Write tuple[{inner}, ...]."

_PLAIN: Final = (bool, int, float, str, bytes)
_UNIONS: Final = (typing.Union, types.UnionType)


class ImmutableDict(Mapping[Any, Any]):
    """A dict that cannot be changed: what a field annotated as Mapping has."""

    def __init__(self, items: Mapping[Any, Any]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items!r})"


jax.tree_util.register_pytree_node(
    ImmutableDict,
    lambda items: ([items[key] for key in sorted(items)], tuple(sorted(items))),
    lambda keys, values: ImmutableDict(dict(zip(keys, values, strict=True))),
)


def is_static(value: Any) -> bool:
    """Whether a value is a part of the type, as a number of Python is, and not data."""
    return value is None or isinstance(value, (*_PLAIN, DType, TensorShape, type))


def check_annotation(annotation: Any, where: str) -> None:
    """Raises TypeError for annotations that fields cannot have."""
    if annotation is list or typing.get_origin(annotation) is list:
        inner = typing.get_args(annotation)
        raise TypeError(NO_LISTS.format(where=where, inner=getattr(inner[0], "__name__", inner[0]) if inner else "int"))
    for inner in typing.get_args(annotation):
        check_annotation(inner, where)


def fit(value: Any, annotation: Any, where: str) -> Any:
    """The value as the annotation wants it; TypeError if it does not fit."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is Any or isinstance(value, data.TensorSpec):
        return value
    if origin in _UNIONS:
        return _fit_one_of(value, arguments, where)
    if annotation in (None, type(None)):
        return _check(value, value is None, "None", where)
    if annotation is Tensor:
        return _fit_tensor(value, where)
    if isinstance(annotation, data.TensorSpec):
        return _fit_spec(value, annotation, where)
    if annotation is DType:
        return as_dtype(value)
    if annotation is TensorShape:
        return TensorShape(value)
    if origin is tuple or annotation is tuple:
        return _fit_tuple(value, arguments, where)
    if origin in (dict, Mapping) or annotation in (dict, Mapping):
        _check(value, isinstance(value, Mapping), "a mapping", where)
        key_type, value_type = arguments or (Any, Any)
        fitted = {fit(key, key_type, where): fit(each, value_type, f"{where}[{key!r}]") for key, each in value.items()}
        return ImmutableDict(fitted)
    if origin is typing.Literal:
        return _check(value, value in arguments, f"one of {arguments}", where)
    if isinstance(origin or annotation, type):
        kind = origin or annotation
        return _check(value, isinstance(value, kind), kind.__name__, where)
    return value


def map_parts(function: Callable[..., Any], *values: Any) -> Any:
    """Applies a function to the arrays and composite tensors in values of one structure; static parts stay."""
    first = values[0]
    if is_static(first):
        return first
    if isinstance(first, tuple):
        return tuple(map_parts(function, *parts) for parts in zip(*values, strict=True))
    if isinstance(first, ImmutableDict):
        return ImmutableDict({key: map_parts(function, *(value[key] for value in values)) for key in first})
    return function(*values)


def _fit_one_of(value: Any, annotations: tuple[Any, ...], where: str) -> Any:
    # A tensor comes last: almost everything can be converted to one.
    for annotation in sorted(annotations, key=lambda each: each is Tensor):
        try:
            return fit(value, annotation, where)
        except (TypeError, ValueError):
            continue
    names = " or ".join(getattr(each, "__name__", str(each)) for each in annotations)
    raise TypeError(WRONG_TYPE.format(where=where, value=value, expected=names))


def _fit_tensor(value: Any, where: str) -> Any:
    if isinstance(value, jax.Array | HostTensor | keras.KerasTensor | jax.ShapeDtypeStruct):
        return value
    if value is None or isinstance(value, CompositeTensor):
        raise TypeError(WRONG_TYPE.format(where=where, value=value, expected="a tensor"))
    if isinstance(value, np.ndarray) and not isinstance(value, HostTensor):
        return convert_to_tensor(value)
    try:
        return convert_to_tensor(value)
    except (TypeError, ValueError) as error:
        raise TypeError(WRONG_TYPE.format(where=where, value=value, expected="a tensor")) from error


def _fit_spec(value: Any, spec: Any, where: str) -> Any:
    tensor = _fit_tensor(value, where)
    fits = TensorShape(spec.shape).is_compatible_with(tensor.shape) and as_dtype(spec.dtype) == as_dtype(tensor.dtype)
    return _check(tensor, fits, repr(spec), where)


def _fit_tuple(value: Any, arguments: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    _check(value, isinstance(value, tuple | list), "a tuple", where)
    if not arguments:
        return tuple(value)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        arguments = (arguments[0],) * len(value)
    _check(value, len(value) == len(arguments), f"a tuple of {len(arguments)}", where)
    return tuple(fit(each, kind, f"{where}[{i}]") for i, (each, kind) in enumerate(zip(value, arguments, strict=True)))


def _check(value: Any, is_right: bool, expected: str, where: str) -> Any:
    if not is_right:
        raise TypeError(WRONG_TYPE.format(where=where, value=value, expected=expected))
    return value
