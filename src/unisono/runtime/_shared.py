"""One array in the host's memory as the copy of every CPU device."""

from __future__ import annotations

from typing import Any, Final

import jax
import numpy as np
from jax.sharding import NamedSharding

# XLA:CPU uses memory as it is if it begins at a multiple of this; NumPy's large arrays begin 16 bytes behind one.
_ALIGNMENT: Final = 64


def shared_copies(array: Any, sharding: NamedSharding) -> jax.Array:
    """``array`` whole on every CPU device of ``sharding``, in one piece of memory.

    One plain copy at most: for 40 MB on four devices 6 ms, where `device_put` takes 22 ms and 40 MB for each.
    """
    host = np.asarray(array, jax.dtypes.canonicalize_dtype(array.dtype))
    if host.ctypes.data % _ALIGNMENT or not host.flags.c_contiguous:
        host = _aligned(host)
    shards = [jax.device_put(host, device) for device in sharding.mesh.devices.flat]
    return jax.make_array_from_single_device_arrays(host.shape, sharding, shards)


def _aligned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    memory = np.empty(array.nbytes + _ALIGNMENT, np.uint8)
    begin = -memory.ctypes.data % _ALIGNMENT
    copy: np.ndarray[Any, Any] = memory[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
