"""Bytes as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def bytes_scalar(value: bytes) -> NDArray[Any]:
    """An array without dimensions that holds `value`. NumPy's own type for bytes would lose zeros at the end.

    >>> bytes_scalar(b"ab\\0")
    array(b'ab\\x00', dtype=object)
    """
    array: NDArray[Any] = np.empty((), object)
    array[()] = value
    return array
