"""`tf.Module`: an object that finds the variables in its attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import keras

from unisono._src.state.checkpoint import Group

_HIDDEN = frozenset({"_name", "_unisono_functions"})


class Module(Group):
    """Collects the variables, modules and layers in its attributes, also inside lists, tuples and dicts.

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
        """The name; by default that of the class."""
        return getattr(self, "_name", type(self).__name__.lower())

    @property
    def name_scope(self) -> AbstractContextManager[Any]:
        """A context in which names of variables start with the module's."""
        scope: AbstractContextManager[Any] = keras.name_scope(self.name)
        return scope

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates a method that creates variables: their names start with the module's."""

        def in_name_scope(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return in_name_scope

    @property
    def variables(self) -> tuple[Any, ...]:
        """All variables, each once, in the order of the attributes' names."""
        return tuple(_deduplicate(each for each in _traverse(self) if isinstance(each, keras.Variable)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable variables."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """The variables that are not trainable."""
        return tuple(variable for variable in self.variables if not variable.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The nested modules and layers."""
        return tuple(each for each in _deduplicate(_traverse(self)) if isinstance(each, Module | keras.Layer))

    @property
    def _objects(self) -> dict[str, Any]:  # type: ignore[override]
        """What a checkpoint stores: the attributes that contain variables."""
        return {name: value for name, value in vars(self).items() if name not in _HIDDEN and _has_state(value)}


def _has_state(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_state, value))
    if isinstance(value, dict):
        return any(map(_has_state, value.values()))
    kinds = keras.Variable | keras.Layer | keras.optimizers.Optimizer | keras.metrics.Metric | Module
    return isinstance(value, kinds)


def _traverse(module: Any) -> Iterator[Any]:
    """The variables, layers and modules in the attributes, depth first."""
    seen = {id(module)}
    stack = list(_attributes(module))
    while stack:
        value = stack.pop(0)
        if isinstance(value, list | tuple | dict):
            stack[:0] = value.values() if isinstance(value, dict) else list(value)
        elif isinstance(value, keras.Variable | keras.Layer | Module) and id(value) not in seen:
            seen.add(id(value))
            yield value
            inside: Sequence[Any] = ()
            if isinstance(value, Module):
                inside = list(_attributes(value))
            elif isinstance(value, keras.Layer):
                inside = [*value.variables, *value._layers]
            stack[:0] = inside


def _attributes(module: Any) -> Iterator[Any]:
    for name, value in sorted(vars(module).items()):
        if name not in _HIDDEN:
            yield value


def _deduplicate(values: Iterator[Any]) -> Iterator[Any]:
    seen: set[int] = set()
    for value in values:
        if id(value) not in seen:
            seen.add(id(value))
            yield value
