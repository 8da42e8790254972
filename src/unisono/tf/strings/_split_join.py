"""Texts joined and taken apart."""

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
    """Texts joined, element by element.

    >>> join(["a", ["x", "y"]], "-").numpy().tolist()
    [b'a-x', b'a-y']
    """
    between = as_bytes(scalar_value(separator))
    arrays = np.broadcast_arrays(*(as_bytes_array(each) for each in inputs))
    return map_strings(lambda *each: between.join(each), *arrays)


@op
def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: Any = "") -> Any:
    """Texts joined along dims; all of them if ``axis`` is None."""
    array, between = as_bytes_array(inputs), as_bytes(scalar_value(separator))
    where = static_axes(axis)
    order = tuple(range(array.ndim)) if where is None else (where,) if isinstance(where, int) else where
    order = tuple(each % array.ndim for each in order)
    left = [each for each in range(array.ndim) if each not in order]
    rows = array.transpose([*left, *order]).reshape([*(array.shape[each] for each in left), -1])
    joined = build_string_array(rows.shape[:-1], lambda index: between.join(rows[index]))
    if keepdims:
        joined = joined.reshape([1 if each in order else array.shape[each] for each in range(array.ndim)])
    return to_host_tensor(joined)


@op
def split(input: Any, sep: Any = None, maxsplit: Any = -1) -> Any:
    """The parts of a text between ``sep``, or between spaces; of several texts, if all have as many parts.

    >>> split("a b c").numpy().tolist()
    [b'a', b'b', b'c']
    """
    between = None if sep is None else as_bytes(scalar_value(sep)) or None
    return split_each(input, lambda each: each.split(between, static_int(maxsplit)), "split")


@op
def bytes_split(input: Any) -> Any:
    """The single bytes of a text."""
    return split_each(input, lambda each: [each[place : place + 1] for place in range(len(each))], "bytes_split")


@op
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE") -> Any:
    """So many bytes, or letters, from a place on; a negative place counts from the end."""
    arrays = np.broadcast_arrays(as_bytes_array(input), static_value(pos, "pos"), static_value(len, "len"))
    return map_strings(lambda each, place, count: _part(each, int(place), int(count), unit), *arrays)


@op
def unicode_split(input: Any, input_encoding: str = "UTF-8") -> Any:
    """The single letters of a text."""
    return split_each(input, lambda each: [letter.encode() for letter in each.decode(input_encoding)], "unicode_split")


@op
def unicode_decode(input: Any, input_encoding: str = "UTF-8") -> Any:
    """The numbers of the letters of one text."""
    array = as_bytes_array(input)
    if array.ndim:
        raise ValueError(f"tf.strings.unicode_decode: expected one text, got the shape {array.shape}.")
    return as_array([ord(letter) for letter in array.item().decode(input_encoding)], "int32")


@op
def unicode_encode(input: Any, output_encoding: str = "UTF-8") -> Any:
    """The text of numbers of letters, along the last dim."""
    numbers = static_value(input, "tf.strings.unicode_encode: the numbers")
    return to_host_tensor(
        build_string_array(numbers.shape[:-1], lambda index: "".join(map(chr, numbers[index])).encode(output_encoding))
    )


def _part(each: bytes, place: int, count: int, unit: str) -> bytes:
    letters: Any = each if unit == "BYTE" else each.decode()
    if not -len(letters) <= place <= len(letters):
        raise InvalidArgumentError(None, None, f"tf.strings.substr: place {place} of {each!r} is outside.")
    start = place + (len(letters) if place < 0 else 0)
    return as_bytes(letters[start : start + count])
