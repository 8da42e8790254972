"""Values of which each device has a shard, and their way to the host without a whole copy on a device."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np


def is_sharded(value: Any) -> bool:
    """Whether ``value`` is an array, no placeholder of a trace, of which no device has all."""
    return isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer) and not value.is_fully_replicated


def is_sharded_over_processes(value: Any) -> bool:
    """Whether no process alone has all of ``value``."""
    return is_sharded(value) and not value.is_fully_addressable


def copy_to_host(value: Any) -> np.ndarray[Any, Any]:
    """A whole copy of a value of which this process has all shards.

    Shard by shard: NumPy's conversion would make the whole value and leave it with the array, as a second copy.
    """
    if not is_sharded(value) or not value.is_fully_addressable:
        # A copy, not np.asarray: on CPUs that is a view of memory which a program may write into.
        return np.array(value, copy=True)
    host = np.empty(value.shape, value.dtype)
    for shard in value.addressable_shards:
        if shard.replica_id == 0:
            host[shard.index] = np.asarray(shard.data)
    return host
