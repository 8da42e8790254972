"""`tf.Module`: an object that knows the variables in its attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import keras

from unisono._src.state.checkpoint import Group

_HIDDEN = frozenset({"_name", "_unisono_functions"})


class Module(Group):
    """Has the variables, modules and layers that are its attributes, also inside of lists, tuples and dicts.

    >>> class Dense(Module):
    ...     def __init__(self):
    ...         super().__init__(name="dense")
    ...         self.w = keras.Variable([[1.0]], name="w")
    >>> [variable.name for variable in Dense().trainable_variables]
    ['w']
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = name or re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()

    @property
    def name(self) -> str:
        """Its name; that of the class if none was given."""
        return getattr(self, "_name", type(self).__name__.lower())

    @property
    def name_scope(self) -> AbstractContextManager[Any]:
        """A context in which variables are named after this module."""
        scope: AbstractContextManager[Any] = keras.name_scope(self.name)
        return scope

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A decorator for methods that make variables: they are named after the module."""

        def named(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return named

    @property
    def variables(self) -> tuple[Any, ...]:
        """All variables, each once, in the order of the attributes' names."""
        return tuple(_distinct(each for each in _reached(self) if isinstance(each, keras.Variable)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those that are trained."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """Those that are not."""
        return tuple(variable for variable in self.variables if not variable.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules and layers in it."""
        return tuple(each for each in _distinct(_reached(self)) if isinstance(each, Module | keras.Layer))

    @property
    def _objects(self) -> dict[str, Any]:  # type: ignore[override]
        """What a checkpoint stores: the attributes in which there are variables."""
        return {name: value for name, value in vars(self).items() if name not in _HIDDEN and _holds(value)}


def _holds(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds, value))
    if isinstance(value, dict):
        return any(map(_holds, value.values()))
    kinds = keras.Variable | keras.Layer | keras.optimizers.Optimizer | keras.metrics.Metric | Module
    return isinstance(value, kinds)


def _reached(module: Any) -> Iterator[Any]:
    """What is in the attributes, depth first. A layer tells its variables by itself."""
    seen = {id(module)}
    todo = list(_attributes(module))
    while todo:
        value = todo.pop(0)
        if isinstance(value, list | tuple | dict):
            todo[:0] = value.values() if isinstance(value, dict) else list(value)
        elif isinstance(value, keras.Variable | keras.Layer | Module) and id(value) not in seen:
            seen.add(id(value))
            yield value
            inside: Sequence[Any] = ()
            if isinstance(value, Module):
                inside = list(_attributes(value))
            elif isinstance(value, keras.Layer):
                inside = [*value.variables, *value._layers]
            todo[:0] = inside


def _attributes(module: Any) -> Iterator[Any]:
    for name, value in sorted(vars(module).items()):
        if name not in _HIDDEN:
            yield value


def _distinct(values: Iterator[Any]) -> Iterator[Any]:
    seen: set[int] = set()
    for value in values:
        if id(value) not in seen:
            seen.add(id(value))
            yield value
