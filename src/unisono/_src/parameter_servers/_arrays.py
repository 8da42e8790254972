"""Arrays in messages: their dtypes and shapes in the JSON part, their bytes as buffers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono._src.state.store import dtype_from_name, to_storable
from unisono_launch.connection import PeerLostError

Array = np.ndarray[Any, np.dtype[Any]]


def encode_arrays(arrays: Sequence[Any]) -> tuple[list[Any], list[memoryview]]:
    """Descriptions of the arrays for JSON, and their bytes, without a copy.

    >>> specs, buffers = encode_arrays([np.float32([1, 2])])
    >>> specs, decode_arrays(specs, buffers)
    ([['float32', [2]]], [array([1., 2.], dtype=float32)])
    """
    stored = [to_storable(str(position), array) for position, array in enumerate(arrays)]
    specs = [[array.dtype.name, list(array.shape)] for array in stored]
    return specs, [array.reshape(-1).view(np.uint8).data for array in stored]


def decode_arrays(specs: Any, buffers: Sequence[memoryview]) -> list[Array]:
    """The arrays; they share the memory of the buffers. Raises :class:`PeerLostError` for what cannot be arrays."""
    try:
        arrays = []
        for (name, shape), buffer in zip(specs, buffers, strict=True):
            dtype = dtype_from_name(name)
            if math.prod(shape) * dtype.itemsize != buffer.nbytes:
                raise ValueError(f"{buffer.nbytes} bytes are no {name} of shape {shape}")
            arrays.append(np.frombuffer(buffer, dtype).reshape(shape))
        return arrays
    except (TypeError, ValueError) as error:
        raise PeerLostError(f"it sent arrays that make no sense: {error}") from None
