"""Decoding of the protobuf wire format, as much of it as the fast parser of Examples needs: varints and tagged fields.

https://protobuf.dev/programming-guides/encoding/ is the specification. Messages are encoded by protobuf itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

VARINT, FIXED64, DELIMITED, GROUP, END_GROUP, FIXED32 = range(6)

_MAX_VARINT_BYTES = 10
_FEW_BYTES = 48  # up to here Python decodes faster than NumPy
_MAX_GROUP_DEPTH = 64


class ExampleError(ValueError, DecodeError):
    """A serialized Example is damaged, or does not hold what was asked of it. One of protobuf's DecodeErrors too."""


def decode_varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The number that begins at `at`, and where it ends."""
    number = shift = 0
    for position in range(at, min(end, at + _MAX_VARINT_BYTES)):
        byte = data[position]
        number |= (byte & 127) << shift
        if byte < 128:
            return number & 0xFFFFFFFFFFFFFFFF, position + 1
        shift += 7
    if end - at < _MAX_VARINT_BYTES:
        raise ExampleError(f"a number that begins at byte {at} continues past byte {end}, where it must end")
    raise ExampleError(f"a number that begins at byte {at} is longer than {_MAX_VARINT_BYTES} bytes")


def decode_varints(data: bytes) -> NDArray[np.int64]:
    """All the numbers in `data`, with their signs.

    >>> decode_varints(bytes.fromhex("01 ac 02"))
    array([  1, 300])
    """
    if data.isascii():  # every byte is below 128, so every byte is a number
        return np.frombuffer(data, np.uint8).astype(np.int64)
    if len(data) <= _FEW_BYTES:
        numbers, at = [], 0
        while at < len(data):
            number, at = decode_varint(data, at, len(data))
            numbers.append(number)
        return np.array(numbers, np.uint64).view(np.int64)
    numbers_or_none = decode_varint_array(np.frombuffer(data, np.uint8))
    if numbers_or_none is None:
        raise ExampleError(
            f"a number is longer than {_MAX_VARINT_BYTES} bytes, or not finished where the {len(data)} bytes end"
        )
    return numbers_or_none


def decode_varint_array(data: NDArray[np.uint8]) -> NDArray[np.int64] | None:
    """The same with NumPy; None where `data` is damaged."""
    last = np.flatnonzero(data < 128)
    if not last.size or last[-1] != data.size - 1:
        return None if data.size else np.empty(0, np.int64)
    first = np.concatenate(([0], last[:-1] + 1))
    sizes = last - first + 1
    if sizes.max() > _MAX_VARINT_BYTES:
        return None
    shifts = 7 * (np.arange(data.size) - np.repeat(first, sizes))
    parts = (data & 127).astype(np.uint64) << shifts.astype(np.uint64)
    return np.bitwise_or.reduceat(parts, first).view(np.int64)


def decode_fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """The fields of the message in `data[at:end]`: number, wire type, and where the value begins and ends."""
    while at < end:
        tag_at = at
        tag = data[at]
        if tag < 128:
            at += 1
        else:
            tag, at = decode_varint(data, at, end)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == DELIMITED:
            size = data[at] if at < end else 128
            if size < 128:
                start = at + 1
            else:
                size, start = decode_varint(data, at, end)
            stop = start + size
        else:
            start, stop = at, _skip_value(data, at, end, wire_type, tag_at)
        if stop > end:
            raise ExampleError(
                f"the field at byte {tag_at} ends at byte {stop}, past the end of its message at byte {end}"
            )
        if number == 0 or number >= 1 << 29:
            raise ExampleError(f"the field at byte {tag_at} has the number {number}, which no field can have")
        yield number, wire_type, start, stop
        at = stop


def _skip_value(data: bytes, at: int, end: int, wire_type: int, tag_at: int, depth: int = 0) -> int:
    """Where a value ends that is not delimited."""
    if wire_type == VARINT:
        return decode_varint(data, at, end)[1]
    if wire_type == FIXED64:
        return at + 8
    if wire_type == FIXED32:
        return at + 4
    if wire_type == GROUP and depth < _MAX_GROUP_DEPTH:
        return _skip_group(data, at, end, data[tag_at:at], depth)
    raise ExampleError(f"the field at byte {tag_at} has wire type {wire_type}, which is not allowed there")


def _skip_group(data: bytes, at: int, end: int, opening: bytes, depth: int) -> int:
    # A group ends at a tag with its own number; groups may contain groups.
    number = decode_varint(opening, 0, len(opening))[0] >> 3
    while at < end:
        tag_at = at
        tag, at = decode_varint(data, at, end)
        if tag & 7 == END_GROUP and tag >> 3 == number:
            return at
        if tag & 7 == DELIMITED:
            size, at = decode_varint(data, at, end)
            at += size
        else:
            at = _skip_value(data, at, end, tag & 7, tag_at, depth + 1)
    raise ExampleError(f"a group is not closed before byte {end}")
