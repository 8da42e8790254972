"""Values of variables on their way to files and back, shard by shard where they are sharded.

State that every process has whole is copied by the chief. Of state that is sharded over processes each process copies
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
from unisono._src.state.store import ArrayInPieces, Index, Piece, StoredArray, whole_index

Copies = dict[str, Any]
"""NumPy arrays, and for what is sharded over processes `ArrayInPieces`, by name."""


# What every process has is divided among the parts from this size on. Less is written by the chief as fast.
_MIN_DIVIDED_BYTES = 1 << 20


def copy_values(values: Mapping[str, Any]) -> Copies:
    """Copies on the host of what this process has to write of ``values``. Nothing is exchanged.

    If none is sharded over processes, the chief copies all, and the others nothing. Otherwise each process copies its
    pieces, also of large values that all have; the chief copies the small ones.
    """
    in_parts = any(map(is_sharded_over_processes, values.values()))
    owned = {name: _find_owned(value, in_parts) for name, value in values.items()}
    for _, arrays in owned.values():
        for array in arrays.values():
            array.copy_to_host_async()  # all transfers start before the first is waited for
    copies: Copies = {}
    for name, (pieces, arrays) in owned.items():
        own = {number: copy_to_host(array) for number, array in arrays.items()}
        if pieces is not None:
            copies[name] = ArrayInPieces(values[name].shape, values[name].dtype, pieces, own)
        elif own:
            copies[name] = own[0]
    return copies


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


def _find_owned(value: Any, in_parts: bool) -> tuple[tuple[Piece, ...] | None, dict[int, Any]]:
    """The pieces of ``value``, None if it is whole, and those that this process writes, by number, on a device."""
    if is_sharded_over_processes(value):
        pieces = _divide_shards(value)
        shards = {_index(shard.index, value.shape): shard.data for shard in value.addressable_shards}
        return pieces, {
            number: shards[piece.index] for number, piece in enumerate(pieces) if piece.part == processes().index
        }
    is_everywhere = in_parts and isinstance(value, jax.Array) and not value.is_fully_addressable
    num_rows = value.shape[0] if value.ndim else 0
    if is_everywhere and num_rows >= processes().count and value.nbytes >= _MIN_DIVIDED_BYTES:
        pieces = _divide_rows(value.shape)
        start, stop = pieces[processes().index].index[0]
        return pieces, {processes().index: value.addressable_data(0)[start:stop]}
    return None, {0: value} if processes().is_chief else {}


def _divide_shards(value: jax.Array) -> tuple[Piece, ...]:
    holders: dict[Index, set[int]] = {}
    placed: Mapping[Any, Any] = value.sharding.devices_indices_map(value.shape)
    for device, slices in placed.items():
        holders.setdefault(_index(slices, value.shape), set()).add(device.process_index)
    # A piece that several processes have is written by one of them: in turn, so that each writes its share.
    return tuple(
        Piece(sorted(holders[index])[number % len(holders[index])], index)
        for number, index in enumerate(sorted(holders))
    )


def _divide_rows(shape: tuple[int, ...]) -> tuple[Piece, ...]:
    count = processes().count
    ranges = [(shape[0] * part // count, shape[0] * (part + 1) // count) for part in range(count)]
    return tuple(Piece(part, (ranges[part], *whole_index(shape[1:]))) for part in range(count))


def _index(slices: Sequence[slice], shape: tuple[int, ...]) -> Index:
    return tuple(each.indices(size)[:2] for each, size in zip(slices, shape, strict=True))


def _read(stored: Any, index: tuple[slice, ...]) -> np.ndarray[Any, Any]:
    return stored.read(index) if isinstance(stored, StoredArray) else np.array(stored[index], copy=True)
