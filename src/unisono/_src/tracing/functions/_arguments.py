"""What a function is called with: the arrays that go into the program, and the rest, which is part of it."""

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
from unisono._src.tracing.functions._slots import ARRAY, Constant, emptied, filled

_BY_VALUE = bool | int | float | complex | str | bytes | enum.Enum | np.dtype | type | TensorSpec | None

MADE_BY_HAND = """This PerReplica does not say on which devices its replicas live. Call the function in the scope:
    with strategy.scope():
        function(per_replica)"""


@dataclass(frozen=True, eq=False)
class Arguments:
    """The arguments of one call, taken apart.

    Attributes:
        key: equal for calls that one program can serve.
        arrays: what the program is called with.
        placement: where the replicas live whose values are among them.
    """

    key: Hashable
    arrays: list[Any]
    placement: Placement | None
    _tree: Any
    _slots: list[Any]

    @property
    def objects(self) -> list[Any]:
        """Those that the key knows by their identity alone."""
        constants = [slot.value for slot in self._slots if isinstance(slot, Constant)]
        return [value for value in constants if not isinstance(value, _BY_VALUE)]

    def with_arrays(self, arrays: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as the user wrote them, with these arrays in their places."""
        following = iter(arrays)
        args, kwargs = jax.tree.unflatten(self._tree, [filled(slot, following) for slot in self._slots])
        return args, kwargs


def flatten_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    """From a call's arguments to :class:`Arguments`."""
    leaves, tree = flatten_with_none((args, kwargs))
    arrays: list[Any] = []
    keys: list[Hashable] = []
    slots: list[Any] = []
    placement: Placement | None = None
    for leaf in leaves:
        if isinstance(leaf, PerReplica):
            placement = _placement_of(leaf)
            kept, inside = _of_replicas(leaf, placement)
            shapes = tuple((array.shape, array.dtype) for array in inside)
            how = kept.scalars if isinstance(kept, Sharded) else kept.shares if isinstance(kept, Unsplit) else None
            keys.append((PerReplica, shapes, type(kept), how, placement))
            arrays += inside
            slots.append(kept)
        elif isinstance(leaf, jax.Array | np.ndarray | np.generic) and not is_host_only(leaf.dtype):
            keys.append((jax.Array, leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False)))
            arrays.append(leaf)
            slots.append(ARRAY)
        else:
            keys.append((type(leaf), leaf) if isinstance(leaf, _BY_VALUE) else (object, id(leaf)))
            slots.append(Constant(leaf))
    return Arguments((tree, tuple(keys)), arrays, placement, tree, slots)


def describe_arguments(key: Any) -> list[str]:
    """What each leaf of a key stands for, in words for an error."""
    tree, leaves = key
    paths = jax.tree.flatten_with_path(jax.tree.unflatten(tree, list(range(len(leaves)))))[0]
    return [f"{_name(path)}: {_in_words(leaf)}" for (path, _), leaf in zip(paths, leaves, strict=True)]


def _of_replicas(value: PerReplica, placement: Placement) -> tuple[Sharded | Unsplit | Separate, list[Any]]:
    """How the values of replicas go into the program, and as which arrays."""
    if not fits_one_program(value):
        # Nothing that replicas could compute with, but something that can be joined: each whole on every device.
        whole = [jax.device_put(np.asarray(each), placement.replicated) for each in value.values]
        return Separate((ARRAY,) * len(whole), placement), whole
    slot, array = emptied(as_program_input(value, placement))
    return slot, [array]


def _placement_of(value: PerReplica) -> Placement:
    if value.held.placement is not None:
        return value.held.placement
    strategy = context.current_strategy()
    if strategy is None:
        raise ValueError(MADE_BY_HAND)
    return strategy.placement


def _name(path: Any) -> str:
    which, *inner = path
    if not inner:
        return "arguments"
    first, *rest = inner
    head = f"argument {first.idx}" if which.idx == 0 else f"argument {first.key!r}"
    return head + "".join(str(key) for key in rest)


def _in_words(leaf: Any) -> str:
    kind = leaf[0]
    if kind is jax.Array:
        return f"an array of shape {leaf[1]} and dtype {leaf[2]}"
    if kind is PerReplica:
        return f"values of all replicas, {leaf[1]}"
    if kind is object:
        return "another object"
    return f"the Python value {leaf[1]!r}"
