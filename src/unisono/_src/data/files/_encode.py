"""The short way to a serialized Example: from a mapping of arrays, numbers and strings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unisono._src.data.files._stored import BYTES, FLOAT, INT64, encode_features
from unisono._src.data.files._values import as_bytes, as_floats, as_int64s
from unisono._src.data.files._wire import encode_field, encode_varints


def encode_example(mapping: Mapping[str, Any]) -> bytes:
    """A serialized Example that holds these values.

    Byte strings and text become a BytesList, floats of any size a FloatList (float32), whole numbers and booleans
    an Int64List. An Example knows no shapes: arrays are flattened, and get their shape back from a FixedLenFeature.

    >>> from unisono.io import FixedLenFeature, parse_single_example
    >>> serialized = encode_example({"pixels": np.ones((2, 2), "float32"), "label": 7, "name": "seven"})
    >>> parse_single_example(serialized, {"pixels": FixedLenFeature((2, 2), "float32")})["pixels"].shape
    (2, 2)

    Small whole numbers take a byte or two each; an image of bytes is best written as `image.tobytes()`.
    """
    features = {}
    for name, value in mapping.items():
        if not isinstance(name, str):
            raise TypeError(f"encode_example: {name!r} is no name. Expected text: write {{{str(name)!r}: ...}}.")
        features[name] = _feature(value, f"encode_example: {name!r}")
    return encode_features(features)


def _feature(value: Any, name: str) -> tuple[int, bytes]:
    if isinstance(value, bytes | str | bytearray | memoryview):
        return _bytes_list([value], name)
    if isinstance(value, list | tuple):
        if not value:
            return 0, b""  # no kind, which reads as an empty list of any
        flat = np.array(value, dtype=object).ravel().tolist()
        if any(isinstance(item, bytes | str) for item in flat):
            return _bytes_list(flat, name)
    array = np.asarray(value) if not isinstance(value, list | tuple) else _array(value, name)
    if array.dtype.kind in "SUO":
        return _bytes_list(array.ravel().tolist(), name)
    if array.dtype.kind == "f":
        content = as_floats(array, name).tobytes()
        return FLOAT, encode_field(1, content) if content else b""
    content = encode_varints(as_int64s(array, name))
    return INT64, encode_field(1, content) if content else b""


def _array(value: Any, name: str) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(
            f"{name} is not one array ({error}). Pad the rows to one length, or give each its own name."
        ) from None


def _bytes_list(values: list[Any], name: str) -> tuple[int, bytes]:
    return BYTES, b"".join([encode_field(1, value) for value in as_bytes(values, name)])
