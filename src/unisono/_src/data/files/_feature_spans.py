"""Where the values of an Example are in its bytes.

Protobuf gives the values but not their positions, and the fast parser (`_record_template.py`) needs the positions.
Errors name the byte at which a record is damaged, which protobuf's do not.

Example  { Features features = 1 }
Features { map<string, Feature> feature = 1 }      an entry is { key = 1, value = 2 }
Feature  { BytesList = 1 | FloatList = 2 | Int64List = 3 }
each list { repeated value = 1 }
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.files._wire import DELIMITED, FIXED32, VARINT, ExampleError, decode_fields, decode_varints

BYTES, FLOAT, INT64 = 1, 2, 3
KIND_NAMES: Final = {BYTES: "bytes", FLOAT: "float32", INT64: "int64"}

_UNPACKED: Final = {FLOAT: FIXED32, INT64: VARINT}


@dataclass(slots=True)
class FeatureSpans:
    """One feature: which kind of list, and the spans of its values. Kind 0 is a feature without a list.

    A span is one value of a BytesList, and a run of values of the other two.
    """

    kind: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    packed: bool = True
    """False where every number has its own tag, as before 2010. They are read, only not fast."""

    def decode(self, data: bytes) -> list[bytes] | NDArray[Any]:
        """The values: byte strings, float32 or int64."""
        if self.kind == FLOAT:
            return self._floats(data)
        return self._int64s(data) if self.kind == INT64 else [data[start:stop] for start, stop in self.spans]

    def _floats(self, data: bytes) -> NDArray[np.float32]:
        for start, stop in self.spans:
            if (stop - start) % 4:
                raise ExampleError(f"{stop - start} bytes at byte {start} are no whole number of float32")
        return np.frombuffer(self._concatenate(data), np.dtype("<f4"))

    def _int64s(self, data: bytes) -> NDArray[np.int64]:
        for start, stop in self.spans:
            if stop > start and data[stop - 1] > 127:
                raise ExampleError(f"the last number in bytes {start} to {stop} is not finished")
        return decode_varints(self._concatenate(data))

    def _concatenate(self, data: bytes) -> bytes:
        if len(self.spans) == 1:
            ((start, stop),) = self.spans
            return data[start:stop]
        return b"".join([data[start:stop] for start, stop in self.spans])


def find_features(data: bytes) -> dict[str, FeatureSpans]:
    """The features of a serialized Example. Of two entries with one key the last one counts, as in protobuf."""
    found: dict[str, FeatureSpans] = {}
    for number, wire_type, start, stop in decode_fields(data, 0, len(data)):
        if number == 1:
            _expect_delimited(wire_type, start, "Example.features")
            for inner, inner_type, entry, end in decode_fields(data, start, stop):
                if inner == 1:
                    _expect_delimited(inner_type, entry, "Features.feature")
                    key, spans = _read_entry(data, entry, end)
                    found[key] = spans
    return found


def _read_entry(data: bytes, start: int, stop: int) -> tuple[str, FeatureSpans]:
    key, spans = "", FeatureSpans()
    for number, wire_type, a, b in decode_fields(data, start, stop):
        if number == 1:
            _expect_delimited(wire_type, a, "a feature's name")
            try:
                key = data[a:b].decode()
            except UnicodeDecodeError:
                raise ExampleError(f"the feature's name at byte {a} is not UTF-8: {data[a:b][:40]!r}") from None
        elif number == 2:
            _expect_delimited(wire_type, a, "a feature")
            _read_feature(data, a, b, spans)
    return key, spans


def _read_feature(data: bytes, start: int, stop: int, spans: FeatureSpans) -> None:
    for kind, wire_type, a, b in decode_fields(data, start, stop):
        if kind in KIND_NAMES:
            _expect_delimited(wire_type, a, f"a list of {KIND_NAMES[kind]}")
            if spans.kind != kind:  # a oneof: the last list counts
                spans.kind, spans.spans, spans.packed = kind, [], True
            _read_list(data, a, b, spans)


def _read_list(data: bytes, start: int, stop: int, spans: FeatureSpans) -> None:
    for number, wire_type, a, b in decode_fields(data, start, stop):
        if number == 1:
            if wire_type != DELIMITED:
                if _UNPACKED.get(spans.kind) != wire_type:
                    raise ExampleError(
                        f"a list of {KIND_NAMES[spans.kind]} has a value of wire type {wire_type} at byte {a}"
                    )
                spans.packed = False
            spans.spans.append((a, b))


def _expect_delimited(wire_type: int, at: int, what: str) -> None:
    if wire_type != DELIMITED:
        raise ExampleError(f"{what} was expected at byte {at}, but the field there has wire type {wire_type}")
