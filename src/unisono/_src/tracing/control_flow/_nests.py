"""A nest of values taken apart: what a program can compute, and what is Python's alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import jax
import jax.numpy as jnp
import keras
import numpy as np

from unisono._src.replicas.values import is_host_only
from unisono._src.tracing.control_flow._forms import Form, taken_apart


class _Undefined:
    def __repr__(self) -> str:
        return "no value"


UNDEFINED: Final = _Undefined()
"""Stands for the value of a name that has none."""


@dataclass(frozen=True, eq=False)
class Array:
    """An array, or a variable whose value may stand for it.

    Attributes:
        value: what was found.
        array: its value.
        index: the place of that among the arrays of the trace in which it was found; None if it lives outside of it.
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
    """A number of Python's."""

    value: bool | int | float | complex


@dataclass(frozen=True, eq=False)
class Thing:
    """Anything that no program computes: a text, None, an object, a name without a value."""

    value: Any


Leaf = Array | Number | Thing


@dataclass(frozen=True, eq=False)
class Nest:
    """A value taken apart into leaves."""

    form: Form
    leaves: list[Leaf]

    @classmethod
    def of(cls, value: Any, arrays: list[Any] | None, opaque: frozenset[int] = frozenset()) -> Nest:
        """Takes ``value`` apart; its arrays are added to ``arrays``, those of the present trace.

        Objects whose identity is in ``opaque`` stay whole.
        """
        leaves, form = taken_apart(value, is_leaf=lambda part: part is None or id(part) in opaque)
        return cls(form, [_leaf(leaf, arrays) for leaf in leaves])

    def placed_as_in(self, other: Nest) -> Nest:
        """The same with the keys of dicts in the order of ``other``, which has the same form."""
        return Nest(other.form, self.form.placed_as_in(other.form, self.leaves))

    def with_leaves(self, leaves: list[Any]) -> Any:
        """The value again, with these leaves."""
        return self.form.value(leaves)

    def __str__(self) -> str:
        return _described(self.form.value([_text(leaf) for leaf in self.leaves]))


@dataclass(frozen=True)
class _Text:
    text: str


def _leaf(leaf: Any, arrays: list[Any] | None) -> Leaf:
    if isinstance(leaf, bool | int | float | complex) and not isinstance(leaf, np.generic):
        return Number(leaf)
    if isinstance(leaf, keras.Variable):
        array = leaf.value
    elif isinstance(leaf, jax.Array | np.ndarray | np.generic) and not is_host_only(leaf.dtype):
        array = jnp.asarray(leaf)
    else:
        return Thing(leaf)
    if arrays is None:
        return Array(leaf, array, None)
    arrays.append(array)
    return Array(leaf, array, len(arrays) - 1)


def array_in_words(array: Any) -> str:
    """The shape and dtype of an array."""
    return f"an array of shape {tuple(array.shape)} and dtype {array.dtype}"


def _text(leaf: Leaf) -> _Text:
    if isinstance(leaf, Array):
        return _Text(f"the variable {leaf.value.path!r}" if leaf.is_variable else array_in_words(leaf.array))
    if isinstance(leaf, Number):
        return _Text(f"the Python number {leaf.value!r}")
    if leaf.value is None or leaf.value is UNDEFINED or isinstance(leaf.value, str | bytes):
        return _Text(repr(leaf.value))
    return _Text(f"an object of type {type(leaf.value).__name__}")


def _described(nest: Any) -> str:
    if isinstance(nest, _Text):
        return nest.text
    if isinstance(nest, dict):
        return "a dict of {" + ", ".join(f"{key!r}: {_described(value)}" for key, value in nest.items()) + "}"
    if isinstance(nest, list | tuple):
        inner = ", ".join(map(_described, nest)) or "nothing"
        return f"a {'list' if isinstance(nest, list) else 'tuple'} of ({inner})"
    return f"an object of type {type(nest).__name__}"
