"""Arrays of every dtype as arrays that safetensors can hold, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes  # comes with JAX; NumPy does not know bfloat16 and its kin without it
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_HELD = [np.bool_, np.float16, np.float32, np.float64]
_HELD += [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
_AS_BYTES = [np.complex64, np.complex128, np.longdouble, np.clongdouble]
_AS_BYTES += [kind for kind in vars(ml_dtypes).values() if isinstance(kind, type) and issubclass(kind, np.generic)]

_HELD_NAMES = {np.dtype(kind).name for kind in _HELD}
# Names are looked up, never parsed: np.dtype() would take "O" and much else from a file.
_BY_NAME = {np.dtype(kind).name: np.dtype(kind) for kind in (*_AS_BYTES, *_HELD)}


def to_store(name: str, value: Any) -> Array:
    """`value` as a contiguous array of this machine's byte order. A copy only where it is not one already."""
    array = np.asarray(value, order="C")
    if array.dtype.name not in _BY_NAME:
        raise TypeError(
            f"The array {name!r} has dtype {array.dtype} (shape {array.shape}). Expected numbers or booleans; "
            f"put strings and other things into `state`."
        )
    return array.astype(_BY_NAME[array.dtype.name], copy=False)


def as_held(array: Array) -> Array:
    """`array`, or its bytes where safetensors has no name for its dtype. Shares the memory."""
    return array if array.dtype.name in _HELD_NAMES else array.reshape(-1).view(np.uint8)


def from_held(held: Array, dtype_name: str, shape: Sequence[int]) -> Array:
    """The array that `as_held` was given. ValueError if `held` cannot be that. Shares the memory."""
    dtype = _BY_NAME.get(dtype_name)
    if dtype is None:
        raise ValueError(f"the dtype {dtype_name!r} is not known here. A newer ml_dtypes may have it: update jax")
    if dtype_name in _HELD_NAMES:
        expected = f"{dtype_name} of shape {tuple(shape)}"
        right = held.dtype == dtype and held.shape == tuple(shape)
    else:
        num_bytes = math.prod(shape) * dtype.itemsize
        expected = f"{num_bytes} bytes, as {dtype_name} of shape {tuple(shape)}"
        right = held.dtype == np.uint8 and held.shape == (num_bytes,)
    if not right:
        raise ValueError(f"it is {held.dtype} of shape {held.shape}, expected {expected}")
    return held if dtype_name in _HELD_NAMES else held.view(dtype).reshape(shape)
