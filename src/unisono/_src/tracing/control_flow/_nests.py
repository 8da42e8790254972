"""A nested value, flattened into leaves: arrays and numbers that a program can compute, and Python objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import jax
import jax.numpy as jnp
import keras
import numpy as np

from unisono._src.replicas.values import is_host_only
from unisono._src.tracing.control_flow._structures import Structure, flatten


class _Undefined:
    def __repr__(self) -> str:
        return "no value"


UNDEFINED: Final = _Undefined()
"""The value of a name that has none."""


@dataclass(frozen=True, eq=False)
class Array:
    """An array, or a variable with its value.

    Attributes:
        value: the array or the variable.
        array: the array.
        index: its index among the arrays of the trace in which it was found; None if it is from outside it.
    """

    value: Any
    array: Any
    index: int | None

    @property
    def is_variable(self) -> bool:
        """Whether it is a variable."""
        return isinstance(self.value, keras.Variable)


@dataclass(frozen=True, eq=False)
class Number:
    """A Python number."""

    value: bool | int | float | complex


@dataclass(frozen=True, eq=False)
class PythonObject:
    """Anything that no program computes: text, None, an object, UNDEFINED."""

    value: Any


Leaf = Array | Number | PythonObject


@dataclass(frozen=True, eq=False)
class Nest:
    """A nested value as its structure and its leaves."""

    structure: Structure
    leaves: list[Leaf]

    @classmethod
    def flatten(cls, value: Any, arrays: list[Any] | None, opaque: frozenset[int] = frozenset()) -> Nest:
        """Flattens ``value``; its arrays are added to ``arrays``, those of the present trace.

        Objects whose id is in ``opaque`` are leaves.
        """
        leaves, structure = flatten(value, is_leaf=lambda part: part is None or id(part) in opaque)
        return cls(structure, [_classify_leaf(leaf, arrays) for leaf in leaves])

    def reordered_like(self, other: Nest) -> Nest:
        """The same with the keys of dicts in the order of ``other``, which has an equal structure."""
        return Nest(other.structure, self.structure.reordered_like(other.structure, self.leaves))

    def with_leaves(self, leaves: list[Any]) -> Any:
        """The value again, with these leaves."""
        return self.structure.unflatten(leaves)

    def __str__(self) -> str:
        return _describe(self.structure.unflatten([_leaf_text(leaf) for leaf in self.leaves]))


@dataclass(frozen=True)
class _LeafText:
    text: str


def _classify_leaf(leaf: Any, arrays: list[Any] | None) -> Leaf:
    if isinstance(leaf, bool | int | float | complex) and not isinstance(leaf, np.generic):
        return Number(leaf)
    if isinstance(leaf, keras.Variable):
        array = leaf.value
    elif isinstance(leaf, jax.Array | np.ndarray | np.generic) and not is_host_only(leaf.dtype):
        array = jnp.asarray(leaf)
    else:
        return PythonObject(leaf)
    if arrays is None:
        return Array(leaf, array, None)
    arrays.append(array)
    return Array(leaf, array, len(arrays) - 1)


def describe_array(array: Any) -> str:
    """The shape and dtype of an array."""
    return f"an array of shape {tuple(array.shape)} and dtype {array.dtype}"


def _leaf_text(leaf: Leaf) -> _LeafText:
    if isinstance(leaf, Array):
        return _LeafText(f"the variable {leaf.value.path!r}" if leaf.is_variable else describe_array(leaf.array))
    if isinstance(leaf, Number):
        return _LeafText(f"the Python number {leaf.value!r}")
    if leaf.value is None or leaf.value is UNDEFINED or isinstance(leaf.value, str | bytes):
        return _LeafText(repr(leaf.value))
    return _LeafText(f"an object of type {type(leaf.value).__name__}")


def _describe(nest: Any) -> str:
    if isinstance(nest, _LeafText):
        return nest.text
    if isinstance(nest, dict):
        return "a dict of {" + ", ".join(f"{key!r}: {_describe(value)}" for key, value in nest.items()) + "}"
    if isinstance(nest, list | tuple):
        inner = ", ".join(map(_describe, nest)) or "nothing"
        return f"a {'list' if isinstance(nest, list) else 'tuple'} of ({inner})"
    return f"an object of type {type(nest).__name__}"
