"""A user's values as what an Example can hold: byte strings, float32 and int64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_INT64 = np.iinfo(np.int64)


def bytes_scalar(value: bytes) -> NDArray[Any]:
    """An array without dimensions that holds `value`. NumPy's own type for bytes would lose zeros at the end.

    >>> bytes_scalar(b"ab\\0")
    array(b'ab\\x00', dtype=object)
    """
    array: NDArray[Any] = np.empty((), object)
    array[()] = value
    return array


def as_bytes(values: Sequence[Any], name: str) -> list[bytes]:
    """Byte strings as they are, text as UTF-8."""
    out = []
    for value in values:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if isinstance(value, str):
            value = value.encode()
        elif isinstance(value, bytearray | memoryview | bytes):
            value = bytes(value)
        else:
            raise TypeError(
                f"{name} got {value!r} ({type(value).__name__}). Expected bytes or text: write array.tobytes() "
                f"for the bytes of an array, str(value) for a number as text."
            )
        out.append(value)
    return out


def as_floats(values: Any, name: str) -> NDArray[np.float32]:
    """Numbers rounded to float32; too large ones become infinite, as everywhere with float32."""
    array = _as_numbers(values, name, "fiub")
    with np.errstate(over="ignore"):
        return array.astype(np.dtype("<f4")).ravel()


def as_int64s(values: Any, name: str) -> NDArray[np.int64]:
    """Whole numbers; none is rounded and none wraps around."""
    array = _as_numbers(values, name, "iub")
    if array.dtype.kind == "u" and array.size and array.max() > _INT64.max:
        raise ValueError(
            f"{name} got {array.max()}, but the largest int64 is {_INT64.max}. Write the bytes of the array instead, "
            f"array.tobytes(), and read them with decode_raw(value, 'uint64')."
        )
    return array.astype(np.int64).ravel()


def _as_numbers(values: Any, name: str, kinds: str) -> NDArray[Any]:
    if isinstance(values, list) and not values:
        return np.empty(0, np.int64)  # NumPy would take it for floats
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} got a ragged list ({error}). Expected a flat list of numbers.") from None
    if array.dtype.kind not in kinds:
        dtype, remedy = ("float32", "") if "f" in kinds else ("int64", ", or a FloatList for numbers with a fraction")
        raise TypeError(
            f"{name} got {str(values)[:60]} (dtype {array.dtype}). Expected numbers that fit into {dtype}: "
            f"write np.asarray(values).astype({dtype!r}){remedy}."
        )
    return array
