"""Pytree structures. As JAX's, but a dict keeps the order of its keys, which may be of any type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import jax


@dataclass(frozen=True)
class _DictStructure:
    """The structure of a dict: equal to that of a dict with the same keys in another order.

    Attributes:
        empty: its type and `default_factory`.
        members: the structures of its values, by key, in its order.
    """

    empty: tuple[type[dict[Any, Any]], Any]
    members: dict[Hashable, Structure]


@dataclass(frozen=True)
class Structure:
    """The structure of a value.

    Attributes:
        tree: JAX's, in which dicts are leaves.
        dicts: for each of its leaves, the structure of the dict that it is; None for one that is no dict.
    """

    tree: Any
    dicts: tuple[_DictStructure | None, ...]

    def unflatten(self, leaves: list[Any]) -> Any:
        """The value with this structure and these leaves."""
        return self._unflatten(iter(leaves))

    def reordered_like(self, other: Structure, leaves: list[Any]) -> list[Any]:
        """The leaves of a value of this structure in the order of ``other``, an equal one."""
        return self._reorder(other, iter(leaves))

    def flatten_up_to(self, value: Any) -> list[Any]:
        """The parts of ``value`` that correspond to the leaves. ValueError if its structure differs."""
        found: list[Any] = []
        for part, inner in zip(self.tree.flatten_up_to(value), self.dicts, strict=True):
            if inner is None:
                found.append(part)
            elif _is_dict(part) and part.keys() == inner.members.keys():
                found += [
                    each for key, structure in inner.members.items() for each in structure.flatten_up_to(part[key])
                ]
            else:
                raise ValueError("the structures differ")
        return found

    def _unflatten(self, leaves: Iterator[Any]) -> Any:
        parts: list[Any] = []
        for inner in self.dicts:
            if inner is None:
                parts.append(next(leaves))
            else:
                kind, factory = inner.empty
                made = kind() if factory is None else defaultdict(factory)
                made.update((key, structure._unflatten(leaves)) for key, structure in inner.members.items())
                parts.append(made)
        return jax.tree.unflatten(self.tree, parts)

    def _reorder(self, other: Structure, leaves: Iterator[Any]) -> list[Any]:
        reordered: list[Any] = []
        for own, theirs in zip(self.dicts, other.dicts, strict=True):
            if own is None or theirs is None:
                reordered.append(next(leaves))
            else:
                inner = {key: structure._reorder(theirs.members[key], leaves) for key, structure in own.members.items()}
                reordered += [leaf for key in theirs.members for leaf in inner[key]]
        return reordered


def flatten(value: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], Structure]:
    """The leaves of ``value``, and its structure. ``is_leaf`` says what is not flattened."""
    parts, tree = jax.tree.flatten(value, is_leaf=lambda part: _is_dict(part) or is_leaf(part))
    leaves: list[Any] = []
    dicts: list[_DictStructure | None] = []
    for part in parts:
        if not _is_dict(part) or is_leaf(part):
            leaves.append(part)
            dicts.append(None)
            continue
        members: dict[Hashable, Structure] = {}
        for key, inside in part.items():
            inner, members[key] = flatten(inside, is_leaf)
            leaves += inner
        dicts.append(_DictStructure((type(part), getattr(part, "default_factory", None)), members))
    return leaves, Structure(tree, tuple(dicts))


def _is_dict(part: Any) -> bool:
    return type(part) is dict or type(part) is defaultdict
