"""What a traced function returns: the arrays that come out of the program, and the rest."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
from jax.sharding import NamedSharding

from unisono.runtime import Placement
from unisono.values import Each, PerReplica, Rows, Together


@dataclass(frozen=True, eq=False)
class Results:
    """A nest taken apart.

    Attributes:
        arrays: what the program returns.
    """

    arrays: list[Any]
    _tree: Any
    _leaves: list[Any]

    @classmethod
    def of(cls, nest: Any) -> Results:
        """Takes ``nest`` apart. Variables give their values."""
        leaves, tree = jax.tree.flatten(nest, is_leaf=lambda leaf: leaf is None)
        arrays: list[Any] = []
        kept: list[Any] = []
        for leaf in leaves:
            kept.append(_kept(leaf, arrays))
        return cls(arrays, tree, kept)

    def layouts(self, placement: Placement | None) -> list[NamedSharding | None]:
        """Where each array of the program's results is to live: a replica's part with it, all else on every device."""
        if placement is None:
            return [None] * len(self.arrays)
        layouts: list[NamedSharding | None] = []
        for leaf in self._leaves:
            if isinstance(leaf, Each):
                layouts += [placement.replicated for kind in leaf.values if kind is _ARRAY]
            elif isinstance(leaf, Rows):
                layouts.append(placement.one_for_each)
            elif leaf is _ARRAY or isinstance(leaf, Together):
                layouts.append(placement.replicated)
        return layouts

    def with_arrays(self, arrays: list[Any]) -> Any:
        """The nest, with these arrays in their places."""
        following = iter(arrays)
        return jax.tree.unflatten(self._tree, [_rebuilt(leaf, following) for leaf in self._leaves])

    def forget_arrays(self) -> Results:
        """The same without what was traced, to be kept."""
        return Results([None] * len(self.arrays), self._tree, self._leaves)


_ARRAY = object()


@dataclass(frozen=True)
class _Constant:
    value: Any


def _kept(leaf: Any, arrays: list[Any]) -> Any:
    """How to make the leaf again; its arrays go to ``arrays``."""
    if isinstance(leaf, PerReplica):
        held = leaf.held
        if isinstance(held, Rows):
            arrays.append(held.array)
            return dataclasses.replace(held, array=None)
        if isinstance(held, Together):
            arrays.append(held.value)
            return dataclasses.replace(held, value=None)
        return Each(tuple(_kept(value, arrays) for value in held.values), held.placement)
    if isinstance(leaf, keras.Variable):
        leaf = leaf.value
    if isinstance(leaf, jax.Array | np.ndarray | np.generic):
        arrays.append(jnp.asarray(leaf))
        return _ARRAY
    return _Constant(leaf)


def _rebuilt(leaf: Any, following: Any) -> Any:
    if isinstance(leaf, _Constant):
        return leaf.value
    if isinstance(leaf, Rows):
        return PerReplica.holding(dataclasses.replace(leaf, array=next(following)))
    if isinstance(leaf, Together):
        return PerReplica.holding(dataclasses.replace(leaf, value=next(following)))
    if isinstance(leaf, Each):
        return PerReplica.holding(Each(tuple(_rebuilt(value, following) for value in leaf.values), leaf.placement))
    return next(following)
