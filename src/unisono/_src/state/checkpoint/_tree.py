"""Objects by name, as deep as users nest them: what lies inside, and what can be stored of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeGuard

import jax
import keras
import numpy as np

HOLDERS: Final = (
    keras.Variable,
    keras.Layer,
    keras.optimizers.Optimizer,
    keras.metrics.Metric,
    keras.random.SeedGenerator,
)

UNKNOWN = """{path!r} is a {kind}, and nothing of it can be stored.
Expected: a keras Model, Layer, Optimizer, Metric, Variable or SeedGenerator; an object with get_state() and
set_state(state), as `iter(dataset)` is; a number, a string, a bool, None, a NumPy array; dicts, lists and tuples of
these; another Checkpoint."""

NO_TEXT_KEY = """{path!r} has the key {key!r}, a {kind}. The names of values are made of the keys: write {text!r}."""

IN_ITSELF = """{path!r} contains itself. Leave the inner one out."""


class Group:
    """Objects by name, of which some may be exchanged when values are restored: a checkpoint is one.

    A subclass may make `_objects` a property, if nothing but Keras's objects is in it.
    """

    _objects: dict[str, Any]


def children(thing: Any, path: str = "") -> dict[str, Any] | None:
    """What a container holds, by name; None for what is not one."""
    if isinstance(thing, Group):
        return dict(thing._objects)
    if isinstance(thing, Mapping):
        for key in thing:
            if not isinstance(key, str):
                raise TypeError(NO_TEXT_KEY.format(path=path, key=key, kind=type(key).__name__, text=str(key)))
        return dict(thing)
    if isinstance(thing, list | tuple):
        return {str(index): item for index, item in enumerate(thing)}
    return None


def leaves(thing: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """All that is not a container, with its path, in order. Raises for what cannot be stored."""
    return _leaves(thing, path, ())


def join_path(path: str, name: str) -> str:
    """The path of what is called ``name`` inside."""
    return f"{path}/{name}" if path and name else path or name


def is_holder(thing: Any) -> bool:
    """Whether it is one of Keras's objects that hold variables."""
    return isinstance(thing, HOLDERS)


def is_stateful(thing: Any) -> bool:
    """Whether it tells its state and takes it back."""
    has_both = callable(getattr(thing, "get_state", None)) and callable(getattr(thing, "set_state", None))
    return has_both and not isinstance(thing, type)


def is_array(thing: Any) -> TypeGuard[np.ndarray[Any, Any] | np.generic | jax.Array]:
    """Whether it is an array or a NumPy scalar, which become arrays of the checkpoint."""
    return isinstance(thing, np.ndarray | np.generic | jax.Array)


def is_value(thing: Any) -> bool:
    """Whether it is a value by itself, which is exchanged for the stored one."""
    return thing is None or isinstance(thing, bool | int | float | str) or is_array(thing)


def is_plain(thing: Any) -> bool:
    """Whether there are only values in it."""
    return all(is_value(leaf) for _, leaf in leaves(thing))


def _leaves(thing: Any, path: str, around: tuple[int, ...]) -> Iterator[tuple[str, Any]]:
    inside = children(thing, path)
    if inside is None:
        if not (is_holder(thing) or is_stateful(thing) or is_value(thing)):
            raise TypeError(UNKNOWN.format(path=path, kind=f"{type(thing).__module__}.{type(thing).__qualname__}"))
        yield path, thing
        return
    if id(thing) in around:
        raise ValueError(IN_ITSELF.format(path=path))
    for name, item in inside.items():
        yield from _leaves(item, join_path(path, name), (*around, id(thing)))
