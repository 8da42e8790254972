"""A nest whose arrays go through a program: what is left of each leaf without its arrays, and how it is made again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Final

from unisono._src.replicas.values import PerReplica, Separate, Sharded, Unsplit

ARRAY: Final = object()
"""The slot of an array."""


@dataclasses.dataclass(frozen=True)
class Constant:
    """The slot of a leaf that is part of the program. Keeps it alive, so that no other object takes its identity."""

    value: Any


def remove_array(storage: Sharded | Unsplit) -> tuple[Sharded | Unsplit, Any]:
    """The storage without its array, which is its slot, and the array."""
    if isinstance(storage, Sharded):
        return dataclasses.replace(storage, array=None, sum=None), storage.array
    return dataclasses.replace(storage, value=None), storage.value


def fill_slot(slot: Any, arrays: Iterator[Any]) -> Any:
    """The leaf of this slot, made with the next arrays."""
    if isinstance(slot, Constant):
        return slot.value
    if isinstance(slot, Separate):
        values = tuple(fill_slot(value, arrays) for value in slot.values)
        return PerReplica.from_storage(Separate(values, slot.placement))
    array = next(arrays)
    if isinstance(slot, Sharded):
        return PerReplica.from_storage(dataclasses.replace(slot, array=array))
    if isinstance(slot, Unsplit):
        return PerReplica.from_storage(dataclasses.replace(slot, value=array))
    return array
