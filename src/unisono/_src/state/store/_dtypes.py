"""Arrays of every dtype as arrays that safetensors can store, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes  # comes with JAX; adds bfloat16 and the other small floats to NumPy
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_SUPPORTED = [np.bool_, np.float16, np.float32, np.float64]
_SUPPORTED += [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
_AS_BYTES = [np.complex64, np.complex128, np.longdouble, np.clongdouble]
_AS_BYTES += [kind for kind in vars(ml_dtypes).values() if isinstance(kind, type) and issubclass(kind, np.generic)]

_SUPPORTED_NAMES = {np.dtype(kind).name for kind in _SUPPORTED}
# Names are looked up, never parsed: np.dtype() would take "O" and much else from a file.
_BY_NAME = {np.dtype(kind).name: np.dtype(kind) for kind in (*_AS_BYTES, *_SUPPORTED)}


def to_storable(name: str, value: Any) -> Array:
    """`value` as a contiguous array of this machine's byte order. Copied only if it is not one already."""
    array = np.asarray(value, order="C")
    if array.dtype.name not in _BY_NAME:
        raise TypeError(
            f"The array {name!r} has dtype {array.dtype} (shape {array.shape}). Expected numbers or booleans; "
            f"put strings and everything else into `state`."
        )
    return array.astype(_BY_NAME[array.dtype.name], copy=False)


def dtype_from_name(name: str) -> np.dtype[Any]:
    """The dtype of this name, as a file or a message has it; `ValueError` if there is none."""
    if name not in _BY_NAME:
        raise ValueError(f"the dtype {name!r} is unknown. A newer ml_dtypes may have it: update jax")
    return _BY_NAME[name]


def to_safetensors(array: Array) -> Array:
    """`array`, or its bytes where safetensors has no name for its dtype. Shares the memory."""
    return array if array.dtype.name in _SUPPORTED_NAMES else array.reshape(-1).view(np.uint8)


def is_stored_as_bytes(dtype: np.dtype[Any]) -> bool:
    """Whether a tensor of a file holds the bytes of an array of this dtype, in one dimension."""
    return dtype.name not in _SUPPORTED_NAMES


def check_tensor(name: str, shape: Sequence[int], dtype: np.dtype[Any], found_shape: Any, found_type: str) -> None:
    """Raises ValueError unless a tensor of a file, as safetensors describes it, can be such an array."""
    if is_stored_as_bytes(dtype):
        size = math.prod(shape) * dtype.itemsize
        expected, right = (
            f"{size} bytes, as {dtype} of shape {tuple(shape)}",
            (found_type, tuple(found_shape)) == ("U8", (size,)),
        )
    else:
        expected = f"{dtype} of shape {tuple(shape)}"
        right = (found_type, tuple(found_shape)) == (_safetensors_name(dtype), tuple(shape))
    if not right:
        raise ValueError(f"{name!r} is {found_type} of shape {tuple(found_shape)}, expected {expected}")


def dtype_of_tensor(found_type: str) -> np.dtype[Any]:
    """The dtype of a tensor that safetensors describes so; ValueError if Unisono writes no such tensor."""
    for kind in _SUPPORTED:
        if _safetensors_name(np.dtype(kind)) == found_type:
            return np.dtype(kind)
    raise ValueError(f"a tensor is of the type {found_type!r}")


def _safetensors_name(dtype: np.dtype[Any]) -> str:
    return "BOOL" if dtype.kind == "b" else f"{dtype.kind.upper()}{8 * dtype.itemsize}"
