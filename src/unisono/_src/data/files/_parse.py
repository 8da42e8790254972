"""`parse_example`, `parse_single_example`, `decode_raw`: from serialized Examples to arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.files._features import FixedLenFeature, VarLenFeature
from unisono._src.data.files._parser import get_parser
from unisono._src.data.files._wire import ExampleError

Feature = FixedLenFeature | VarLenFeature


def parse_single_example(serialized: Any, features: Mapping[str, Feature]) -> dict[str, NDArray[Any]]:
    """The features of one serialized Example, by name.

    `serialized` is bytes, or an array of no dimension that holds bytes. Byte strings are object arrays that
    hold `bytes`, so that NULs at their end survive. The arrays may be read-only views of `serialized`.

    >>> from unisono.io import encode_example
    >>> serialized = encode_example({"label": 7, "words": ["to", "be"]})
    >>> parsed = parse_single_example(serialized, {
    ...     "label": FixedLenFeature((), "int64"),
    ...     "words": VarLenFeature("string"),
    ...     "weight": FixedLenFeature((), "float32", default_value=1.0),
    ... })
    >>> parsed["label"], parsed["words"], parsed["weight"]
    (array(7), array([b'to', b'be'], dtype=object), array(1., dtype=float32))
    """
    data = serialized if type(serialized) is bytes else _as_bytes(serialized, "parse_single_example")
    parser = get_parser(features, "parse_single_example")
    try:
        return parser.parse(data)
    except ExampleError as error:
        raise ExampleError(f"parse_single_example: {error}.") from None


def parse_example(serialized: Any, features: Mapping[str, Feature]) -> dict[str, NDArray[Any]]:
    """The features of a batch of serialized Examples, stacked: each array has the batch as its first dimension.

    `serialized` is a list of bytes, or an object array of one dimension that holds bytes. This is many times
    faster than parsing one by one.

    >>> from unisono.io import encode_example
    >>> batch = [encode_example({"label": label}) for label in (3, 1, 2)]
    >>> parse_example(batch, {"label": FixedLenFeature((), "int64")})
    {'label': array([3, 1, 2])}
    """
    records = _as_records(serialized)
    for name, feature in features.items():
        if isinstance(feature, VarLenFeature):
            raise ExampleError(
                f"parse_example: {name!r} is a VarLenFeature, and lists of different lengths do not stack. Parse "
                f"before you batch: dataset.map(lambda x: parse_single_example(x, features)).padded_batch(batch_size)."
            )
    parser = get_parser(features, "parse_example")
    try:
        return parser.parse_batch(records)
    except ExampleError as error:
        raise ExampleError(f"parse_example: {error}.") from None


def decode_raw(input_bytes: Any, out_type: Any) -> NDArray[Any]:
    """The array whose `tobytes()` was stored, as one dimension: `decode_raw(image, "uint8").reshape(28, 28)`.

    The bytes are little endian; for others write the dtype so, such as ">i4". An array of byte strings of equal
    length gives an array with one dimension more. The result may be a read-only view.

    >>> decode_raw(np.arange(3, dtype="int16").tobytes(), "int16")
    array([0, 1, 2], dtype=int16)
    """
    dtype = np.dtype(out_type)
    if dtype.hasobject or dtype.kind in "SUVMm" or dtype.itemsize == 0:
        raise TypeError(
            f"decode_raw: dtype {dtype} has no bytes to read. Expected numbers: write decode_raw(x, 'uint8')."
        )
    if isinstance(input_bytes, np.ndarray) and input_bytes.ndim and input_bytes.dtype == object:
        rows = [decode_raw(row, dtype) for row in input_bytes.ravel()]
        sizes = sorted({row.size for row in rows})
        if len(sizes) > 1:
            raise ValueError(
                f"decode_raw: the byte strings hold from {sizes[0]} to {sizes[-1]} values. Expected as many in each: "
                f"decode them one by one before padded_batch."
            )
        return np.array(rows, dtype.newbyteorder("=")).reshape(*input_bytes.shape, sizes[0] if sizes else 0)
    data = _as_bytes(input_bytes, "decode_raw")
    if len(data) % dtype.itemsize:
        raise ValueError(
            f"decode_raw: {len(data)} bytes are no whole number of {dtype} ({dtype.itemsize} bytes each). "
            f"Expected the dtype that the array had when tobytes() was called."
        )
    if dtype.kind == "b":
        return np.frombuffer(data, np.uint8).astype(bool)
    return np.frombuffer(data, dtype.newbyteorder("<") if dtype.isnative else dtype).astype(
        dtype.newbyteorder("="), copy=False
    )


def _as_records(serialized: Any) -> Sequence[bytes]:
    if isinstance(serialized, np.ndarray) and serialized.ndim == 1 and serialized.dtype == object:
        serialized = serialized.tolist()
    if not isinstance(serialized, list | tuple):
        one = isinstance(serialized, bytes) or getattr(serialized, "ndim", 1) == 0
        raise TypeError(
            f"parse_example got {_describe(serialized)}. Expected a batch, a list of bytes or an object array of one "
            f"dimension: {'write parse_single_example for one record' if one else 'write list(records)'}."
        )
    return [record if type(record) is bytes else _as_bytes(record, "parse_example") for record in serialized]


def _as_bytes(serialized: Any, call: str) -> bytes:
    if isinstance(serialized, bytes):
        return bytes(serialized)
    if isinstance(serialized, np.ndarray) and serialized.ndim == 0 and serialized.dtype == object:
        return _as_bytes(serialized.item(), call)
    raise TypeError(
        f"{call} got {_describe(serialized)}. Expected bytes, or an object array of no dimension that holds bytes: "
        f"for an array of several write parse_example; one of dtype S has lost NULs, make it with dtype=object."
    )


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return f"{str(value)[:60]!r} ({type(value).__name__})"
