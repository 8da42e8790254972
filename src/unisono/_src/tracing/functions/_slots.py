"""A nest whose arrays go through a program: what is left of each leaf without them, and the leaf made again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Final

from unisono._src.replicas.values import PerReplica, Separate, Sharded, Unsplit

ARRAY: Final = object()
"""Stands for an array."""


@dataclasses.dataclass(frozen=True)
class Constant:
    """A leaf that is part of the program. Held, so that no other object takes its identity."""

    value: Any


def emptied(held: Sharded | Unsplit) -> tuple[Sharded | Unsplit, Any]:
    """The same without its array, and the array."""
    if isinstance(held, Sharded):
        return dataclasses.replace(held, array=None, total=None), held.array
    return dataclasses.replace(held, value=None), held.value


def filled(slot: Any, arrays: Iterator[Any]) -> Any:
    """The leaf, with the next arrays in it."""
    if isinstance(slot, Constant):
        return slot.value
    if isinstance(slot, Separate):
        return PerReplica.holding(Separate(tuple(filled(value, arrays) for value in slot.values), slot.placement))
    array = next(arrays)
    if isinstance(slot, Sharded):
        return PerReplica.holding(dataclasses.replace(slot, array=array))
    if isinstance(slot, Unsplit):
        return PerReplica.holding(dataclasses.replace(slot, value=array))
    return array
