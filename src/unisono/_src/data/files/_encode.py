"""`encode_example`: a serialized Example from a mapping of arrays, numbers and strings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unisono._src.data.files._example import Example
from unisono._src.data.files._values import as_bytes, as_floats, as_int64s


def encode_example(mapping: Mapping[str, Any]) -> bytes:
    """A serialized Example that holds these values.

    Byte strings and text become a BytesList, floats of any size a FloatList (float32), whole numbers and booleans
    an Int64List. An Example stores no shapes: arrays are flattened, and get their shape back from a FixedLenFeature.

    >>> from unisono.io import FixedLenFeature, parse_single_example
    >>> serialized = encode_example({"pixels": np.ones((2, 2), "float32"), "label": 7, "name": "seven"})
    >>> parse_single_example(serialized, {"pixels": FixedLenFeature((2, 2), "float32")})["pixels"].shape
    (2, 2)

    Small whole numbers take a byte or two each; an image of bytes is best written as `image.tobytes()`.
    """
    example = Example()
    for name, value in mapping.items():
        if not isinstance(name, str):
            raise TypeError(f"encode_example: {name!r} is no name. Expected text: write {{{str(name)!r}: ...}}.")
        _add_values(example.features.feature[name], value, f"encode_example: {name!r}")
    data: bytes = example.SerializeToString()
    return data


def _add_values(feature: Any, value: Any, name: str) -> None:
    if isinstance(value, bytes | str | bytearray | memoryview):
        value = np.array([value], object)
    if isinstance(value, list | tuple):
        if not value:
            return  # no kind, which reads as an empty list of any
        flat = np.array(value, dtype=object).ravel()
        value = flat if any(isinstance(item, bytes | str) for item in flat.tolist()) else _as_array(value, name)
    array = np.asarray(value)
    if array.dtype.kind in "SUO":
        values, kind = as_bytes(array.ravel().tolist(), name), feature.bytes_list
    elif array.dtype.kind == "f":
        values, kind = as_floats(array, name).tolist(), feature.float_list
    else:
        values, kind = as_int64s(array, name).tolist(), feature.int64_list
    kind.SetInParent()  # an empty list has its kind too
    kind.value.extend(values)


def _as_array(value: Any, name: str) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(
            f"{name} is not one array ({error}). Pad the rows to one length, or give each its own name."
        ) from None
