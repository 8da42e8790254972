"""`tf.Module`: an object that finds the variables in its attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import keras

from unisono._src.state.checkpoint import Group
from unisono.tf._deferred_values import restore_deferred

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
        self._name = name or _to_snake_case(type(self).__name__)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if _has_state(value) or isinstance(value, list | dict):
            kept = restore_deferred(self, name, value)
            if kept is not value:
                super().__setattr__(name, kept)

    @property
    def name(self) -> str:
        """The name; by default that of the class."""
        return getattr(self, "_name", None) or _to_snake_case(type(self).__name__)

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
        """All variables, each once: its own in the order of the attributes' names, then those of other modules."""
        return tuple(each for each in self._inner_objects() if isinstance(each, keras.Variable))

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
        return tuple(each for each in self._inner_objects() if isinstance(each, Module | keras.Layer))

    def _inner_objects(self) -> Iterator[Any]:
        return _traverse(self, {id(self)})

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


def _traverse(module: Any, seen: set[int]) -> Iterator[Any]:
    """The variables, layers and modules in the attributes, each once; those inside of others follow after all of them.

    This is TensorFlow's order, by which scripts pair variables with others or store them.
    """
    inside = []
    for value in _contents(module):
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            if isinstance(value, keras.Layer | Module):
                inside.append(value)
    for value in inside:
        yield from _traverse(value, seen)


def _contents(module: Any) -> list[Any]:
    if isinstance(module, keras.Layer):
        return [*module.variables, *module._layers]
    return _flatten([value for name, value in sorted(vars(module).items()) if name not in _HIDDEN])


def _flatten(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value, key=lambda key: (type(key).__name__, key))]
    if isinstance(value, list | tuple):
        return [leaf for each in value for leaf in _flatten(each)]
    return [value] if isinstance(value, keras.Variable | keras.Layer | Module) else []


def _to_snake_case(name: str) -> str:
    """`MyLayer` as `my_layer`, `MLP` as `mlp`."""
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", name).lower()
