"""Converts arguments and results of `tf.io` functions that are byte strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unisono.tf._tensors import HostTensor, as_bytes, to_host_tensor


def to_byte_strings(value: Any, call: str) -> np.ndarray[Any, Any]:
    """Converts text to an array of `bytes`; trailing zeros are kept."""
    if isinstance(value, str | bytes | bytearray | memoryview):
        return _scalar_array(as_bytes(value))
    given = np.asarray(value, object) if isinstance(value, list | tuple) else np.asarray(value)
    if given.dtype.kind not in "OSUT":
        raise TypeError(f"{call}: expected text or bytes, got {given.dtype} of shape {given.shape}.")
    found = np.empty(given.shape, object)
    for index in np.ndindex(given.shape):
        if not isinstance(given[index], str | bytes | bytearray):
            raise TypeError(f"{call}: expected text or bytes, got {given[index]!r}.")
        found[index] = as_bytes(given[index])
    return found


def to_byte_string(value: Any, call: str) -> bytes:
    """Converts a scalar text to `bytes`."""
    found = to_byte_strings(value, call)
    if found.ndim:
        raise ValueError(
            f"{call}: expected one byte string, got an array of shape {found.shape}. Call it in a dataset map."
        )
    data: bytes = found.item()
    return data


def map_byte_strings(function: Callable[[bytes], bytes], value: Any, call: str) -> HostTensor:
    """Applies ``function`` to every byte string."""
    found = to_byte_strings(value, call)
    result = np.empty(found.size, object)
    result[:] = [function(data) for data in found.ravel().tolist()]
    return to_host_tensor(result.reshape(found.shape))


def to_byte_tensor(data: bytes) -> HostTensor:
    """Converts one byte string to a scalar tensor."""
    return to_host_tensor(_scalar_array(data))


def _scalar_array(data: bytes) -> np.ndarray[Any, Any]:
    result = np.empty((), object)
    result[()] = data
    return result
