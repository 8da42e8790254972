"""Where the values of an Example lie in its bytes. Everything that reads an Example starts here.

Example  { Features features = 1 }
Features { map<string, Feature> feature = 1 }      an entry is { key = 1, value = 2 }
Feature  { BytesList = 1 | FloatList = 2 | Int64List = 3 }
each list { repeated value = 1 }
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.files._wire import (
    DELIMITED,
    FIXED32,
    VARINT,
    ExampleError,
    decode_fields,
    decode_varints,
    encode_field,
    joined,
)

BYTES, FLOAT, INT64 = 1, 2, 3
KIND_NAMES: Final = {BYTES: "bytes", FLOAT: "float32", INT64: "int64"}

_UNPACKED: Final = {FLOAT: FIXED32, INT64: VARINT}


@dataclass(slots=True)
class Stored:
    """One feature: which kind of list, and the spans of its values. No kind (0) is a feature without a list.

    A span is one value of a BytesList, and a run of values of the others.
    """

    kind: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    packed: bool = True
    """False where numbers stand one by one, each with a tag, as before 2010. They are read, only not fast."""

    def byte_strings(self, data: bytes) -> list[bytes]:
        return [data[start:stop] for start, stop in self.spans]

    def floats(self, data: bytes) -> NDArray[np.float32]:
        for start, stop in self.spans:
            if (stop - start) % 4:
                raise ExampleError(f"{stop - start} bytes at byte {start} are no whole number of float32")
        return np.frombuffer(joined(data, self.spans), np.dtype("<f4"))

    def int64s(self, data: bytes) -> NDArray[np.int64]:
        for start, stop in self.spans:
            if stop > start and data[stop - 1] > 127:
                raise ExampleError(f"the last number in bytes {start} to {stop} is not finished")
        return decode_varints(joined(data, self.spans))


def find_features(data: bytes) -> dict[str, Stored]:
    """The features of a serialized Example. As protobuf has it, the last of two entries with one key is the one."""
    found: dict[str, Stored] = {}
    for number, wire_type, start, stop in decode_fields(data, 0, len(data)):
        if number == 1:
            _expect_delimited(wire_type, start, "Example.features")
            for inner, inner_type, entry, end in decode_fields(data, start, stop):
                if inner == 1:
                    _expect_delimited(inner_type, entry, "Features.feature")
                    key, stored = _entry(data, entry, end)
                    found[key] = stored
    return found


def encode_features(features: dict[str, tuple[int, bytes]]) -> bytes:
    """A serialized Example of lists that are serialized already, by kind. Keys are sorted: equal data, equal bytes."""
    entries = []
    for key in sorted(features):
        kind, content = features[key]
        feature = encode_field(kind, content) if kind else b""
        entries.append(encode_field(1, encode_field(1, key.encode()) + encode_field(2, feature)))
    return encode_field(1, b"".join(entries))


def _entry(data: bytes, start: int, stop: int) -> tuple[str, Stored]:
    key, stored = "", Stored()
    for number, wire_type, a, b in decode_fields(data, start, stop):
        if number == 1:
            _expect_delimited(wire_type, a, "a feature's name")
            try:
                key = data[a:b].decode()
            except UnicodeDecodeError:
                raise ExampleError(f"the feature's name at byte {a} is not UTF-8: {data[a:b][:40]!r}") from None
        elif number == 2:
            _expect_delimited(wire_type, a, "a feature")
            _feature(data, a, b, stored)
    return key, stored


def _feature(data: bytes, start: int, stop: int, stored: Stored) -> None:
    for kind, wire_type, a, b in decode_fields(data, start, stop):
        if kind in KIND_NAMES:
            _expect_delimited(wire_type, a, f"a list of {KIND_NAMES[kind]}")
            if stored.kind != kind:  # one of the three: the last one given is the one
                stored.kind, stored.spans, stored.packed = kind, [], True
            _values(data, a, b, stored)


def _values(data: bytes, start: int, stop: int, stored: Stored) -> None:
    for number, wire_type, a, b in decode_fields(data, start, stop):
        if number == 1:
            if wire_type != DELIMITED:
                if _UNPACKED.get(stored.kind) != wire_type:
                    raise ExampleError(
                        f"a list of {KIND_NAMES[stored.kind]} has a value of wire type {wire_type} at byte {a}"
                    )
                stored.packed = False
            stored.spans.append((a, b))


def _expect_delimited(wire_type: int, at: int, what: str) -> None:
    if wire_type != DELIMITED:
        raise ExampleError(f"{what} was expected at byte {at}, but the field there has wire type {wire_type}")
