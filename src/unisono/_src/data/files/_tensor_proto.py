"""Arrays as TensorFlow's `TensorProto` messages, and back."""

from __future__ import annotations

import math
from typing import Any, Final

import ml_dtypes
import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from unisono._src.data.files._tensorboard_events import message_class
from unisono._src.data.files._values import bytes_scalar
from unisono._src.data.files._wire import ExampleError

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
_DTYPES: Final = {number: np.dtype(getattr(ml_dtypes, name, name)) for number, name in _NAMES.items()}
_NUMBERS: Final = {dtype: number for number, dtype in _DTYPES.items()}
_MAX_FILLED: Final = 1 << 28  # numbers; a few bytes of a file must not ask for all memory
_VALUES: Final = ("float_val", "double_val", "int_val", "int64_val", "bool_val", "string_val")
# Lists whose numbers are not values yet: the bits of a half, the real and the imaginary part.
_PARTS: Final = {"half_val": np.uint16, "scomplex_val": np.float32, "dcomplex_val": np.float64}


def make_tensor_proto(array: Any) -> Any:
    """An array of numbers or byte strings as the message that TensorFlow makes of it."""
    array = bytes_scalar(array) if isinstance(array, bytes) else np.asarray(array)
    is_text = array.dtype.kind in "OSUT"
    if not is_text and array.dtype not in _NUMBERS:
        raise TypeError(f"serialize_tensor: there is no TensorProto of dtype {array.dtype}. Cast it before.")
    message = message_class("TensorProto")(
        dtype=_STRING if is_text else _NUMBERS[array.dtype],
        tensor_shape={"dim": [{"size": size} for size in array.shape]},
    )
    if is_text:
        message.string_val.extend(
            item.encode() if isinstance(item, str) else bytes(item) for item in array.ravel().tolist()
        )
    else:
        message.tensor_content = np.ascontiguousarray(array).tobytes()
    return message


def serialize_tensor(array: Any) -> bytes:
    """An array of numbers or byte strings as TensorFlow writes it.

    >>> serialize_tensor(np.float32(1.5))
    b'\\x08\\x01\\x12\\x00"\\x04\\x00\\x00\\xc0?'
    """
    data: bytes = make_tensor_proto(array).SerializeToString()
    return data


def parse_tensor(serialized: bytes) -> NDArray[Any]:
    """The array in a TensorProto. Byte strings are returned as an object array.

    >>> parse_tensor(serialize_tensor(np.arange(3)))
    array([0, 1, 2])
    """
    try:
        message = message_class("TensorProto").FromString(serialized)
    except DecodeError:
        raise ExampleError(
            f"parse_tensor: these {len(serialized)} bytes are no TensorProto. Expected what serialize_tensor gave; "
            "was it compressed, cut, or is it another message?"
        ) from None
    if message.dtype != _STRING and message.dtype not in _DTYPES:
        raise ExampleError(f"parse_tensor: the TensorProto has dtype number {message.dtype}, which is not supported")
    dtype = np.dtype(object) if message.dtype == _STRING else _DTYPES[message.dtype]
    shape = tuple(dim.size for dim in message.tensor_shape.dim)
    if any(size < 0 for size in shape):
        raise ExampleError(f"parse_tensor: the TensorProto has the shape {shape}, which no array can have")
    count = math.prod(shape)
    content = message.tensor_content
    if content and not dtype.hasobject:
        if len(content) != count * dtype.itemsize:
            raise ExampleError(f"parse_tensor: {len(content)} bytes are no {dtype} of shape {shape}")
        return np.frombuffer(content, dtype).reshape(shape)
    return _fill(dtype, shape, count, _read_values(message, dtype))


def _read_values(message: Any, dtype: np.dtype[Any]) -> list[Any]:
    values: list[Any] = [value for name in _VALUES for value in getattr(message, name)]
    for name, part in _PARTS.items():
        parts = np.array(getattr(message, name), np.int64 if name == "half_val" else part).astype(part)
        if parts.size:
            try:
                values += parts.view(dtype).tolist()
            except (TypeError, ValueError) as error:
                raise ExampleError(f"parse_tensor: {name} holds {parts.size} numbers, no {dtype}: {error}") from None
    return values


def _fill(dtype: np.dtype[Any], shape: tuple[int, ...], count: int, values: list[Any]) -> NDArray[Any]:
    repeats_last = bool(values) and not dtype.hasobject and count <= _MAX_FILLED  # as TensorFlow shortens constants
    if len(values) > count or (len(values) != count and not repeats_last):
        raise ExampleError(f"parse_tensor: there are {len(values)} values for an array of shape {shape}")
    array: NDArray[Any] = np.empty(count, dtype)
    try:
        array[: len(values)] = values
        array[len(values) :] = values[-1:]
    except (TypeError, ValueError, OverflowError) as error:
        raise ExampleError(f"parse_tensor: the values are no {dtype}: {error}") from None
    return array.reshape(shape)
