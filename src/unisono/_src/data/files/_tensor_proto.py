"""Arrays as TensorFlow's `TensorProto` messages, and back.

TensorProto { dtype = 1, tensor_shape = 2, tensor_content = 4, and for each kind of number a list of values }
TensorShapeProto { repeated dim = 2 }, a dim is { size = 1 }
"""

from __future__ import annotations

import math
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from unisono._src.data.files._byte_string import bytes_scalar
from unisono._src.data.files._wire import (
    ExampleError,
    decode_fields,
    decode_varint,
    decode_varints,
    encode_field,
    encode_varint,
)

_STRING: Final = 7
_NAMES: Final = {
    **dict(enumerate(("float32", "float64", "int32", "uint8", "int16", "int8"), start=1)),
    8: "complex64",
    9: "int64",
    10: "bool",
    14: "bfloat16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    22: "uint32",
    23: "uint64",
    24: "float8_e5m2",
    25: "float8_e4m3fn",
}
_NUMBERS: Final = {number: np.dtype(getattr(ml_dtypes, name, name)) for number, name in _NAMES.items()}
_BY_DTYPE: Final = {dtype: number for number, dtype in _NUMBERS.items()}
_CONTENT: Final = 4
_STRINGS: Final = 8
_MOST_FILLED: Final = 1 << 28  # numbers; a few bytes of a file must not ask for all memory
_FIXED: Final[dict[int, np.dtype[Any]]] = {5: np.dtype("<f4"), 6: np.dtype("<f8")}  # float_val, double_val
_VARINTS: Final = (7, 10, 11)  # int_val, int64_val, bool_val


def serialize_tensor(array: Any) -> bytes:
    """An array of numbers or byte strings as TensorFlow writes it.

    >>> serialize_tensor(np.float32(1.5))
    b'\\x08\\x01\\x12\\x00"\\x04\\x00\\x00\\xc0?'
    """
    array = bytes_scalar(array) if isinstance(array, bytes) else np.asarray(array)
    is_text = array.dtype.kind in "OSUT"
    if not is_text and array.dtype not in _BY_DTYPE:
        raise TypeError(f"serialize_tensor: there is no TensorProto of dtype {array.dtype}. Cast it before.")
    number = _STRING if is_text else _BY_DTYPE[array.dtype]
    dims = b"".join(encode_field(2, b"\x08" + encode_varint(size) if size else b"") for size in np.shape(array))
    head = b"\x08" + encode_varint(number) + encode_field(2, dims)
    if is_text:
        return head + b"".join(encode_field(_STRINGS, _as_bytes(item)) for item in array.ravel().tolist())
    content = np.ascontiguousarray(array).tobytes()
    return head + encode_field(_CONTENT, content) if content else head


def parse_tensor(serialized: bytes) -> NDArray[Any]:
    """The array in a TensorProto. Byte strings come as an object array.

    >>> parse_tensor(serialize_tensor(np.arange(3)))
    array([0, 1, 2])
    """
    number = 0
    shape: tuple[int, ...] = ()
    content: bytes | None = None
    values: list[Any] = []
    for field, _, start, stop in decode_fields(serialized, 0, len(serialized)):
        if field == 1:
            number = decode_varint(serialized, start, stop)[0]
        elif field == 2:
            shape = _shape(serialized, start, stop)
        elif field == _CONTENT:
            content = serialized[start:stop]
        elif field == _STRINGS:
            values.append(serialized[start:stop])
        elif field in _FIXED:
            values += _fixed(serialized[start:stop], _FIXED[field])
        elif field in _VARINTS:
            values += decode_varints(serialized[start:stop]).tolist()
        elif field != 3:  # a version number
            raise ExampleError(
                f"parse_tensor: the TensorProto holds its values in field {field}, which is not read here"
            )
    if number != _STRING and number not in _NUMBERS:
        raise ExampleError(f"parse_tensor: the dtype of the TensorProto is number {number}, which is not known here")
    return _filled(np.dtype(object) if number == _STRING else _NUMBERS[number], shape, content, values)


def _fixed(data: bytes, dtype: np.dtype[Any]) -> list[Any]:
    if len(data) % dtype.itemsize:
        raise ExampleError(f"parse_tensor: {len(data)} bytes are no whole number of {dtype}")
    numbers: list[Any] = np.frombuffer(data, dtype).tolist()
    return numbers


def _shape(data: bytes, start: int, stop: int) -> tuple[int, ...]:
    sizes = []
    for field, _, a, b in decode_fields(data, start, stop):
        if field == 2:
            size = 0
            for inner, _, c, d in decode_fields(data, a, b):
                if inner == 1:
                    size = decode_varint(data, c, d)[0]
            sizes.append(size)
    return tuple(sizes)


def _filled(dtype: np.dtype[Any], shape: tuple[int, ...], content: bytes | None, values: list[Any]) -> NDArray[Any]:
    count = math.prod(shape)
    if content is not None and not dtype.hasobject:
        if len(content) != count * dtype.itemsize:
            raise ExampleError(f"parse_tensor: {len(content)} bytes are no {dtype} of shape {shape}")
        return np.frombuffer(content, dtype).reshape(shape)
    fills = bool(values) and not dtype.hasobject and count <= _MOST_FILLED  # the last value stands for the rest
    if len(values) > count or (len(values) != count and not fills):
        raise ExampleError(f"parse_tensor: there are {len(values)} values for an array of shape {shape}")
    array: NDArray[Any] = np.empty(count, dtype)
    try:
        array[: len(values)] = values
        array[len(values) :] = values[-1:]
    except (TypeError, ValueError, OverflowError) as error:
        raise ExampleError(f"parse_tensor: the values are no {dtype}: {error}") from None
    return array.reshape(shape)


def _as_bytes(item: Any) -> bytes:
    return item.encode() if isinstance(item, str) else bytes(item)
