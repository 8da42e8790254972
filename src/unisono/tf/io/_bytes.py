"""Byte strings: what functions of `tf.io` take and give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unisono.tf._tensors import HostTensor, as_bytes, to_host_tensor


def byte_strings(value: Any, call: str) -> np.ndarray[Any, Any]:
    """Text as an array of `bytes`; zeros at their ends are kept."""
    if isinstance(value, str | bytes | bytearray | memoryview):
        return _one(as_bytes(value))
    given = np.asarray(value, object) if isinstance(value, list | tuple) else np.asarray(value)
    if given.dtype.kind not in "OSUT":
        raise TypeError(f"{call}: expected text or bytes, got {given.dtype} of shape {given.shape}.")
    found = np.empty(given.shape, object)
    for index in np.ndindex(given.shape):
        if not isinstance(given[index], str | bytes | bytearray):
            raise TypeError(f"{call}: expected text or bytes, got {given[index]!r}.")
        found[index] = as_bytes(given[index])
    return found


def one_byte_string(value: Any, call: str) -> bytes:
    """The same of a single one."""
    found = byte_strings(value, call)
    if found.ndim:
        raise ValueError(f"{call}: expected one byte string, got an array of shape {found.shape}. Use it in a map.")
    data: bytes = found.item()
    return data


def each(function: Callable[[bytes], bytes], value: Any, call: str) -> HostTensor:
    """The tensor of what ``function`` makes of every byte string."""
    found = byte_strings(value, call)
    made = np.empty(found.size, object)
    made[:] = [function(data) for data in found.ravel().tolist()]
    return to_host_tensor(made.reshape(found.shape))


def byte_tensor(data: bytes) -> HostTensor:
    """A single byte string as a tensor."""
    return to_host_tensor(_one(data))


def _one(data: bytes) -> np.ndarray[Any, Any]:
    made = np.empty((), object)
    made[()] = data
    return made
