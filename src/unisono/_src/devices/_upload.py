"""Sends large arrays from the host to an accelerator with several threads."""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding

_LARGE: Final = 32 * 2**20
_THREADS: Final = 8


def upload(array: Any, sharding: NamedSharding) -> jax.Array:
    """``array`` on the devices of ``sharding``.

    One thread copies about 8 GB/s into the memory that the device reads from, far less than the device can receive. A
    large array is sent in parts by several threads and concatenated there: 10 instead of 24 ms for 188 MB.
    """
    if isinstance(array, jax.Array) or array.nbytes < _LARGE or len(array) < _THREADS:
        placed: jax.Array = jax.device_put(array, sharding)
        return placed
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="unisono-upload") as pool:
        parts = list(pool.map(lambda part: jax.device_put(part, sharding), np.array_split(array, _THREADS)))
    return _concatenate(sharding)(*parts)


@functools.cache
def _concatenate(sharding: NamedSharding) -> Callable[..., jax.Array]:
    return jax.jit(lambda *parts: jnp.concatenate(parts), out_shardings=sharding)
