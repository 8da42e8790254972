"""What a traced function returns: the arrays that come out of the program, and the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
from jax.sharding import NamedSharding

from unisono._src.devices import Placement
from unisono._src.replicas.values import PerReplica, Separate, Sharded, Unsplit, flatten_with_none
from unisono._src.tracing.functions._slots import ARRAY, Constant, emptied, filled


@dataclass(frozen=True, eq=False)
class Results:
    """A nest taken apart.

    Attributes:
        arrays: what the program returns.
    """

    arrays: list[Any]
    _tree: Any
    _slots: list[Any]

    @classmethod
    def of(cls, nest: Any) -> Results:
        """Takes ``nest`` apart. Variables give their values."""
        leaves, tree = flatten_with_none(nest)
        arrays: list[Any] = []
        return cls(arrays, tree, [_slot(leaf, arrays) for leaf in leaves])

    def layouts(self, placement: Placement | None) -> list[NamedSharding | None]:
        """Where each array of the program's results is to live: a replica's part with it, all else on every device."""
        if placement is None:
            return [None] * len(self.arrays)
        layouts: list[NamedSharding | None] = []
        for slot in self._slots:
            if isinstance(slot, Separate):
                layouts += [placement.replicated for kind in slot.values if kind is ARRAY]
            elif isinstance(slot, Sharded):
                layouts.append(placement.sharded_rows)
            elif slot is ARRAY or isinstance(slot, Unsplit):
                layouts.append(placement.replicated)
        return layouts

    def with_arrays(self, arrays: list[Any]) -> Any:
        """The nest, with these arrays in their places."""
        following = iter(arrays)
        return jax.tree.unflatten(self._tree, [filled(slot, following) for slot in self._slots])

    def forget_arrays(self) -> Results:
        """The same without what was traced, to be kept."""
        return Results([None] * len(self.arrays), self._tree, self._slots)


def _slot(leaf: Any, arrays: list[Any]) -> Any:
    """How to make the leaf again; its arrays go to ``arrays``."""
    if isinstance(leaf, PerReplica):
        held = leaf.held
        if isinstance(held, Separate):
            return Separate(tuple(_slot(value, arrays) for value in held.values), held.placement)
        slot, array = emptied(held)
        arrays.append(array)
        return slot
    if isinstance(leaf, keras.Variable):
        leaf = leaf.value
    if isinstance(leaf, jax.Array | np.ndarray | np.generic):
        arrays.append(jnp.asarray(leaf))
        return ARRAY
    return Constant(leaf)
