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
from unisono._src.replicas.values import PerReplica, Separate, Sharded, Unsplit, flatten_with_none, is_host_only
from unisono._src.tracing.functions._slots import ARRAY, Constant, fill_slot, remove_array


@dataclass(frozen=True, eq=False)
class Results:
    """A flattened nest.

    Attributes:
        arrays: what the program returns.
    """

    arrays: list[Any]
    _tree: Any
    _slots: list[Any]

    @classmethod
    def flatten(cls, nest: Any) -> Results:
        """Flattens ``nest``, with the values of variables instead of these."""
        leaves, tree = flatten_with_none(nest)
        arrays: list[Any] = []
        return cls(arrays, tree, [_make_slot(leaf, arrays) for leaf in leaves])

    def layouts(self, placement: Placement | None) -> list[NamedSharding | None]:
        """The layout of each array: values per replica on their replicas' devices, all else replicated.

        Results are values, not variables: the value of a variable with a sharded layout is returned whole.
        """
        if placement is None:
            return [None] * len(self.arrays)
        layouts: list[NamedSharding | None] = []
        for slot in self._slots:
            if isinstance(slot, Separate):
                layouts += [placement.replicated for value in slot.values if value is ARRAY]
            elif isinstance(slot, Sharded):
                layouts.append(placement.sharded_rows)
            elif slot is ARRAY or isinstance(slot, Unsplit):
                layouts.append(placement.replicated)
        return layouts

    def unflatten(self, arrays: list[Any]) -> Any:
        """The nest, with these arrays."""
        remaining = iter(arrays)
        return jax.tree.unflatten(self._tree, [fill_slot(slot, remaining) for slot in self._slots])

    def without_arrays(self) -> Results:
        """The same without what was traced, to be kept after the trace."""
        return Results([None] * len(self.arrays), self._tree, self._slots)


def _make_slot(leaf: Any, arrays: list[Any]) -> Any:
    """The slot of a leaf; its arrays are appended to ``arrays``."""
    if isinstance(leaf, PerReplica):
        storage = leaf.storage
        if isinstance(storage, Separate):
            return Separate(tuple(_make_slot(value, arrays) for value in storage.values), storage.placement)
        slot, array = remove_array(storage)
        arrays.append(array)
        return slot
    if isinstance(leaf, keras.Variable):
        leaf = leaf.value
    elif hasattr(leaf, "as_result"):
        leaf = leaf.as_result()
    if isinstance(leaf, jax.Array | np.ndarray | np.generic) and not is_host_only(leaf.dtype):
        arrays.append(jnp.asarray(leaf))
        return ARRAY
    return Constant(leaf)
