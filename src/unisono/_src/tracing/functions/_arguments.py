"""The arguments of a function: the arrays that go into the program, and the rest, which is part of the program."""

from __future__ import annotations

import enum
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from unisono._src.data.dataset import TensorSpec
from unisono._src.devices import Placement
from unisono._src.replicas import context
from unisono._src.replicas.values import (
    PerReplica,
    Separate,
    Sharded,
    Unsplit,
    as_program_input,
    fits_one_program,
    flatten_with_none,
    is_host_only,
)
from unisono._src.tracing.functions._slots import ARRAY, Constant, fill_slot, remove_array

_COMPARED_BY_VALUE = bool | int | float | complex | str | bytes | enum.Enum | np.dtype | type | TensorSpec | None

UNKNOWN_DEVICES = """The devices of this PerReplica's replicas are not known. Call the function in the scope:
    with strategy.scope():
        function(per_replica)"""


@dataclass(frozen=True, eq=False)
class Arguments:
    """The flattened arguments of one call.

    Attributes:
        key: equal for calls that can use the same program.
        arrays: what the program is called with.
        placement: the devices of the replicas whose values are among them.
    """

    key: Hashable
    arrays: list[Any]
    placement: Placement | None
    _tree: Any
    _slots: list[Any]

    @property
    def has_text(self) -> bool:
        """Whether there is an array of text among them, which no program takes."""
        values = (slot.value for slot in self._slots if isinstance(slot, Constant))
        return any(isinstance(value, np.ndarray) and is_host_only(value.dtype) for value in values)

    @property
    def objects(self) -> list[Any]:
        """Those that the key identifies by `id` only."""
        constants = [slot.value for slot in self._slots if isinstance(slot, Constant)]
        return [value for value in constants if not isinstance(value, _COMPARED_BY_VALUE)]

    def unflatten(self, arrays: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as the user passed them, with these arrays."""
        remaining = iter(arrays)
        args, kwargs = jax.tree.unflatten(self._tree, [fill_slot(slot, remaining) for slot in self._slots])
        return args, kwargs


def flatten_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    """The flattened arguments of a call."""
    leaves, tree = flatten_with_none((args, kwargs))
    arrays: list[Any] = []
    keys: list[Hashable] = []
    slots: list[Any] = []
    placement: Placement | None = None
    for leaf in leaves:
        if isinstance(leaf, PerReplica):
            placement = _get_placement(leaf)
            slot, leaf_arrays = _flatten_per_replica(leaf, placement)
            shapes = tuple((array.shape, array.dtype) for array in leaf_arrays)
            keys.append((PerReplica, shapes, type(slot), _storage_key(slot), placement))
            arrays += leaf_arrays
            slots.append(slot)
        elif isinstance(leaf, jax.Array | np.ndarray | np.generic) and not is_host_only(leaf.dtype):
            keys.append((jax.Array, leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False)))
            arrays.append(leaf)
            slots.append(ARRAY)
        else:
            keys.append((type(leaf), leaf) if isinstance(leaf, _COMPARED_BY_VALUE) else (object, id(leaf)))
            slots.append(Constant(leaf))
    return Arguments((tree, tuple(keys)), arrays, placement, tree, slots)


def describe_arguments(key: Any) -> list[str]:
    """A description of each leaf of a key, for an error."""
    tree, leaves = key
    paths = jax.tree.flatten_with_path(jax.tree.unflatten(tree, list(range(len(leaves)))))[0]
    return [f"{_argument_name(path)}: {_describe_leaf(leaf)}" for (path, _), leaf in zip(paths, leaves, strict=True)]


def _flatten_per_replica(value: PerReplica, placement: Placement) -> tuple[Sharded | Unsplit | Separate, list[Any]]:
    """The slot and the arrays of a value per replica."""
    if not fits_one_program(value):
        # Replicas cannot compute with these, but they can be concatenated: each goes whole to every device.
        copies = [jax.device_put(np.asarray(each), placement.replicated) for each in value.values]
        return Separate((ARRAY,) * len(copies), placement), copies
    slot, array = remove_array(as_program_input(value, placement))
    return slot, [array]


def _storage_key(slot: Sharded | Unsplit | Separate) -> Hashable:
    if isinstance(slot, Sharded):
        return slot.is_scalar
    return slot.row_counts if isinstance(slot, Unsplit) else None


def _get_placement(value: PerReplica) -> Placement:
    if value.storage.placement is not None:
        return value.storage.placement
    strategy = context.current_strategy()
    if strategy is None:
        raise ValueError(UNKNOWN_DEVICES)
    return strategy.placement


def _argument_name(path: Any) -> str:
    which, *inner = path
    if not inner:
        return "arguments"
    first, *rest = inner
    head = f"argument {first.idx}" if which.idx == 0 else f"argument {first.key!r}"
    return head + "".join(str(key) for key in rest)


def _describe_leaf(leaf: Any) -> str:
    kind = leaf[0]
    if kind is jax.Array:
        return f"an array of shape {leaf[1]} and dtype {leaf[2]}"
    if kind is PerReplica:
        return f"values of all replicas, {leaf[1]}"
    if kind is object:
        return "another object"
    return f"the Python value {leaf[1]!r}"
