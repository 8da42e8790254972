"""Values of variables on their way to files and back, shard by shard where they are sharded.

A value that every process has whole is copied by the chief. Of one that is sharded over processes each process copies
the pieces that it owns, and reads only the shards of its devices when it is restored: nothing is gathered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono._src.devices import copy_to_host, is_sharded, is_sharded_over_processes
from unisono._src.keras_hooks import is_on_read
from unisono._src.processes import processes
from unisono._src.state.store import ArrayInPieces, Index, Piece, StoredArray

Copies = dict[str, Any]
"""NumPy arrays, and for what is sharded over processes `ArrayInPieces`, by name."""


def copy_values(values: Mapping[str, Any]) -> Copies:
    """Copies on the host of what this process has to write of ``values``: on the chief all that it has whole, and on
    every process its pieces of those that are sharded over processes. Nothing is exchanged."""
    own = {name: value for name, value in values.items() if processes().is_chief or is_sharded_over_processes(value)}
    for value in own.values():
        value.copy_to_host_async()  # all transfers start before the first is waited for
    return {
        name: _copy_pieces(value) if is_sharded_over_processes(value) else copy_to_host(value)
        for name, value in own.items()
    }


def place_like(value: jax.Array, stored: Any) -> jax.Array:
    """``stored``, an array or a `StoredArray`, on the devices as ``value`` is, which may have been donated.

    Only the shards of this process's devices are read.
    """
    if value.is_fully_replicated and value.is_fully_addressable:
        placed: jax.Array = jax.device_put(jnp.array(np.asarray(stored)), value.sharding)
        return placed
    # Fresh memory for each device: variables are donated, and on CPUs an array uses the memory that it is made from.
    return jax.make_array_from_callback(value.shape, value.sharding, lambda index: _read(stored, index or ()))


def assign_stored(variable: Any, stored: Any) -> None:
    """Gives ``variable`` the value ``stored``, which has its shape and dtype."""
    value: Any = getattr(variable, "_value", None)
    if is_sharded(value) and not is_on_read(variable):
        variable._value = place_like(value, stored)
    else:
        # A copy: on CPUs JAX would use the memory of the caller's array.
        variable.assign(jnp.array(np.asarray(stored)))


def _copy_pieces(value: jax.Array) -> ArrayInPieces:
    holders: dict[Index, set[int]] = {}
    placed: Mapping[Any, Any] = value.sharding.devices_indices_map(value.shape)
    for device, slices in placed.items():
        holders.setdefault(_index(slices, value.shape), set()).add(device.process_index)
    # A piece that several processes have is written by one of them: in turn, so that each writes its share.
    pieces = [
        Piece(sorted(holders[index])[number % len(holders[index])], index)
        for number, index in enumerate(sorted(holders))
    ]
    shards = {_index(shard.index, value.shape): shard.data for shard in value.addressable_shards}
    own = {number: shards[piece.index] for number, piece in enumerate(pieces) if piece.part == processes().index}
    copies = {number: copy_to_host(shard) for number, shard in own.items()}
    return ArrayInPieces(value.shape, value.dtype, tuple(pieces), copies)


def _index(slices: Sequence[slice], shape: tuple[int, ...]) -> Index:
    return tuple(each.indices(size)[:2] for each, size in zip(slices, shape, strict=True))


def _read(stored: Any, index: tuple[slice, ...]) -> np.ndarray[Any, Any]:
    return stored.read(index) if isinstance(stored, StoredArray) else np.array(stored[index], copy=True)
