"""Joining, splitting and encoding strings."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.tf._op import op
from unisono.tf._operands import as_bytes_array, static_axes, static_int, static_value
from unisono.tf._tensors import as_array, as_bytes, to_host_tensor
from unisono.tf.errors import InvalidArgumentError
from unisono.tf.strings._string_arrays import build_string_array, map_strings, scalar_value, split_each


@op
def join(inputs: Any, separator: Any = "") -> Any:
    """Concatenates strings element by element.

    >>> join(["a", ["x", "y"]], "-").numpy().tolist()
    [b'a-x', b'a-y']
    """
    separator_bytes = as_bytes(scalar_value(separator))
    arrays = np.broadcast_arrays(*(as_bytes_array(each) for each in inputs))
    return map_strings(lambda *each: separator_bytes.join(each), *arrays)


@op
def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: Any = "") -> Any:
    """Concatenates strings along ``axis``; along all dims if it is None."""
    array, separator_bytes = as_bytes_array(inputs), as_bytes(scalar_value(separator))
    axes = static_axes(axis)
    axes = tuple(range(array.ndim)) if axes is None else (axes,) if isinstance(axes, int) else axes
    joined_dims = tuple(each % array.ndim for each in axes)
    kept_dims = [each for each in range(array.ndim) if each not in joined_dims]
    rows = array.transpose([*kept_dims, *joined_dims]).reshape([*(array.shape[each] for each in kept_dims), -1])
    joined = build_string_array(rows.shape[:-1], lambda index: separator_bytes.join(rows[index]))
    if keepdims:
        joined = joined.reshape([1 if each in joined_dims else array.shape[each] for each in range(array.ndim)])
    return to_host_tensor(joined)


@op
def split(input: Any, sep: Any = None, maxsplit: Any = -1) -> Any:
    """Splits strings at ``sep``, or at whitespace if it is None. Several strings give a ragged tensor.

    >>> split(["a b c", "d"])
    <tf.RaggedTensor [[b'a', b'b', b'c'], [b'd']]>
    """
    separator_bytes = None if sep is None else as_bytes(scalar_value(sep)) or None
    return split_each(input, lambda each: each.split(separator_bytes, static_int(maxsplit)))


@op
def bytes_split(input: Any) -> Any:
    """Splits strings into single bytes."""
    return split_each(input, lambda each: [each[index : index + 1] for index in range(len(each))])


@op
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE") -> Any:
    """Returns ``len`` bytes, or characters, from ``pos`` on; a negative ``pos`` counts from the end."""
    arrays = np.broadcast_arrays(as_bytes_array(input), static_value(pos, "pos"), static_value(len, "len"))
    return map_strings(lambda each, start, count: _substring(each, int(start), int(count), unit), *arrays)


@op
def unicode_split(input: Any, input_encoding: str = "UTF-8") -> Any:
    """Splits strings into characters."""
    return split_each(input, lambda each: [char.encode() for char in each.decode(input_encoding)])


@op
def unicode_decode(input: Any, input_encoding: str = "UTF-8") -> Any:
    """Returns the code points of strings; of several ones as a ragged tensor."""
    return split_each(input, lambda each: [ord(char) for char in each.decode(input_encoding)], np.int32)


@op
def unicode_encode(input: Any, output_encoding: str = "UTF-8") -> Any:
    """Converts code points along the last dim to strings."""
    code_points = static_value(as_array(input), "tf.strings.unicode_encode runs on the host: its input")

    def encode(index: Any) -> bytes:
        return "".join(map(chr, code_points[index])).encode(output_encoding)

    return to_host_tensor(build_string_array(code_points.shape[:-1], encode))


def _substring(string: bytes, start: int, count: int, unit: str) -> bytes:
    units: Any = string if unit == "BYTE" else string.decode()
    if not -len(units) <= start <= len(units):
        raise InvalidArgumentError(None, None, f"tf.strings.substr: pos {start} is outside {string!r}.")
    start += len(units) if start < 0 else 0
    return as_bytes(units[start : start + count])
