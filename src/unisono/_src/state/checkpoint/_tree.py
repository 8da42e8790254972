"""Nested objects by name: what is inside them, and which of it can be stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeGuard

import jax
import keras
import numpy as np

VARIABLE_HOLDERS: Final = (
    keras.Variable,
    keras.Layer,
    keras.optimizers.Optimizer,
    keras.metrics.Metric,
    keras.random.SeedGenerator,
)

UNKNOWN = """{path!r} is a {kind}, which cannot be stored.
Expected: a keras Model, Layer, Optimizer, Metric, Variable or SeedGenerator; an object with get_state() and
set_state(state), such as `iter(dataset)`; a number, a string, a bool, None, a NumPy array; dicts, lists and tuples of
these; another Checkpoint."""

NO_TEXT_KEY = """{path!r} has the key {key!r}, a {kind}. Names of values are made of the keys: write {text!r}."""

IN_ITSELF = """{path!r} contains itself. Leave the inner one out."""


class Group:
    """Objects by name, some of which may be replaced when values are restored: a checkpoint is one.

    A subclass may make `_objects` a property, if it contains Keras objects only.
    """

    _objects: dict[str, Any]


def children(value: Any, path: str = "") -> dict[str, Any] | None:
    """The items of a container, by name; None for anything else."""
    if isinstance(value, Group):
        return dict(value._objects)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(NO_TEXT_KEY.format(path=path, key=key, kind=type(key).__name__, text=str(key)))
        return dict(value)
    if isinstance(value, list | tuple):
        return {str(index): item for index, item in enumerate(value)}
    return None


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything that is not a container, with its path, in order. Raises for what cannot be stored."""
    return _leaves(value, path, ())


def join_path(path: str, name: str) -> str:
    """The path of the item ``name`` inside ``path``."""
    return f"{path}/{name}" if path and name else path or name


def holds_variables(value: Any) -> bool:
    """Whether it is one of Keras's objects that hold variables."""
    return isinstance(value, VARIABLE_HOLDERS)


def is_unbuilt(value: Any) -> bool:
    """Whether it is a model or a layer that has no weights yet."""
    return isinstance(value, keras.Layer) and not value.built and not value.weights


def is_stateful(value: Any) -> bool:
    """Whether it has `get_state` and `set_state`."""
    has_both = callable(getattr(value, "get_state", None)) and callable(getattr(value, "set_state", None))
    return has_both and not isinstance(value, type)


def is_array(value: Any) -> TypeGuard[np.ndarray[Any, Any] | np.generic | jax.Array]:
    """Whether it is an array or a NumPy scalar, which become arrays of the checkpoint."""
    return isinstance(value, np.ndarray | np.generic | jax.Array)


def is_value(value: Any) -> bool:
    """Whether it is a plain value, which is replaced by the stored one."""
    return value is None or isinstance(value, bool | int | float | str) or is_array(value)


def is_plain(value: Any) -> bool:
    """Whether it contains only plain values."""
    return all(is_value(leaf) for _, leaf in leaves(value))


def _leaves(value: Any, path: str, around: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    inside = children(value, path)
    if inside is None:
        if not (holds_variables(value) or is_stateful(value) or is_value(value)):
            raise TypeError(UNKNOWN.format(path=path, kind=f"{type(value).__module__}.{type(value).__qualname__}"))
        yield path, value
        return
    if id(value) in around:
        raise ValueError(IN_ITSELF.format(path=path))
    for name, item in inside.items():
        yield from _leaves(item, join_path(path, name), (*around, id(value)))
