"""tf.train.Example and its parts, under the names and with the constructors that people know.

Dataclasses. The bytes are those of the protobuf messages; no protobuf library is involved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

from unisono._src.data.files._message import Message
from unisono._src.data.files._stored import BYTES, FLOAT, INT64, Stored, encode_features, find_features
from unisono._src.data.files._values import as_bytes, as_floats, as_int64s
from unisono._src.data.files._wire import ExampleError, decode_fields, encode_field, encode_varints

Kind = Literal["bytes_list", "float_list", "int64_list"]

_KINDS: Final[dict[Kind, int]] = {"bytes_list": BYTES, "float_list": FLOAT, "int64_list": INT64}


@dataclass
class BytesList(Message):
    """Byte strings; text is encoded as UTF-8.

    >>> BytesList(value=[b"raw", "text"])
    BytesList(value=[b'raw', b'text'])
    """

    value: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.value = as_bytes(_listed(self.value, "BytesList"), "BytesList")

    def _serialized(self) -> bytes:
        return b"".join([encode_field(1, value) for value in as_bytes(self.value, "BytesList")])

    @classmethod
    def FromString(cls, serialized: bytes) -> BytesList:  # noqa: N802 (protobuf's name)
        return Feature.FromString(encode_field(BYTES, bytes(serialized))).bytes_list


@dataclass
class FloatList(Message):
    """Numbers of 32 bits.

    >>> FloatList(value=[0.5, 2])
    FloatList(value=[0.5, 2.0])
    """

    value: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.value = as_floats(_listed(self.value, "FloatList"), "FloatList").tolist()

    def _serialized(self) -> bytes:
        return encode_field(1, as_floats(self.value, "FloatList").tobytes()) if self.value else b""

    @classmethod
    def FromString(cls, serialized: bytes) -> FloatList:  # noqa: N802 (protobuf's name)
        return Feature.FromString(encode_field(FLOAT, bytes(serialized))).float_list


@dataclass
class Int64List(Message):
    """Whole numbers of 64 bits.

    >>> Int64List(value=np.arange(3))
    Int64List(value=[0, 1, 2])
    """

    value: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.value = as_int64s(_listed(self.value, "Int64List"), "Int64List").tolist()

    def _serialized(self) -> bytes:
        return encode_field(1, encode_varints(as_int64s(self.value, "Int64List"))) if self.value else b""

    @classmethod
    def FromString(cls, serialized: bytes) -> Int64List:  # noqa: N802 (protobuf's name)
        return Feature.FromString(encode_field(INT64, bytes(serialized))).int64_list


@dataclass(init=False)
class Feature(Message):
    """One list, of one of the three kinds. The other two are there, and empty.

    >>> feature = Feature(int64_list=Int64List(value=[7]))
    >>> feature.int64_list.value, feature.float_list.value, feature.WhichOneof("kind")
    ([7], [], 'int64_list')
    """

    bytes_list: BytesList
    float_list: FloatList
    int64_list: Int64List
    _given: Kind | None = field(repr=False, compare=False)

    def __init__(
        self,
        *,
        bytes_list: BytesList | None = None,
        float_list: FloatList | None = None,
        int64_list: Int64List | None = None,
    ) -> None:
        lists: dict[Kind, Any] = {"bytes_list": bytes_list, "float_list": float_list, "int64_list": int64_list}
        given = [kind for kind, values in lists.items() if values is not None]
        if len(given) > 1:
            raise ValueError(
                f"Feature got {' and '.join(given)}. Expected one list: give each its own name, "
                f"Features(feature={{'a': Feature({given[0]}=...), 'b': Feature({given[1]}=...)}})."
            )
        self.bytes_list = BytesList() if bytes_list is None else bytes_list
        self.float_list = FloatList() if float_list is None else float_list
        self.int64_list = Int64List() if int64_list is None else int64_list
        self._given = given[0] if given else None

    def WhichOneof(self, oneof_group: Literal["kind"]) -> Kind | None:  # noqa: N802 (protobuf's name)
        """The list that is set: the one with values, else the one that was given to the constructor."""
        if oneof_group != "kind":
            raise ValueError(f"Feature.WhichOneof got {oneof_group!r}. Write feature.WhichOneof('kind').")
        filled = [kind for kind in _KINDS if getattr(self, kind).value]
        if len(filled) > 1:
            raise ValueError(
                f"Feature has values in {' and '.join(filled)}. Expected one list with values: "
                f"give each its own Feature, or empty one with feature.{filled[0]}.value.clear()."
            )
        return filled[0] if filled else self._given

    @classmethod
    def FromString(cls, serialized: bytes) -> Feature:  # noqa: N802 (protobuf's name)
        entry = encode_field(1, b"x") + encode_field(2, bytes(serialized))
        return Features.FromString(encode_field(1, entry)).feature["x"]

    def HasField(self, field_name: str) -> bool:  # noqa: N802 (protobuf's name)
        """Whether this is the list that is set."""
        return super().HasField(field_name) or self.WhichOneof("kind") == field_name

    def _serialized(self) -> bytes:
        kind, content = self._encoded()
        return encode_field(kind, content) if kind else b""

    def _encoded(self) -> tuple[int, bytes]:
        kind = self.WhichOneof("kind")
        return (_KINDS[kind], getattr(self, kind)._serialized()) if kind else (0, b"")


@dataclass
class Features(Message):
    """Features by name."""

    feature: dict[str, Feature] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, feature in self.feature.items():
            if not isinstance(name, str) or not isinstance(feature, Feature):
                raise TypeError(
                    f"Features got {name!r}: {type(feature).__name__}. Expected names and Features: write "
                    f"Features(feature={{'x': Feature(int64_list=Int64List(value=[1]))}}), or the short way, "
                    f"encode_example({{'x': 1}})."
                )
        self.feature = _ByName(self.feature)

    @classmethod
    def FromString(cls, serialized: bytes) -> Features:  # noqa: N802 (protobuf's name)
        return Example.FromString(encode_field(1, bytes(serialized))).features

    def _serialized(self) -> bytes:
        whole = encode_features({name: feature._encoded() for name, feature in self.feature.items()})
        ((_, _, start, stop),) = decode_fields(whole, 0, len(whole))
        return whole[start:stop]


@dataclass
class Example(Message):
    """What a record of a TFRecord file usually holds: lists of numbers or byte strings, by name.

    >>> example = Example(features=Features(feature={"x": Feature(int64_list=Int64List(value=[1, -1]))}))
    >>> serialized = example.SerializeToString()
    >>> Example.FromString(serialized).features.feature["x"].int64_list.value
    [1, -1]
    """

    features: Features = field(default_factory=Features)

    def _serialized(self) -> bytes:
        return encode_features({name: feature._encoded() for name, feature in self.features.feature.items()})

    @classmethod
    def FromString(cls, serialized: bytes) -> Example:  # noqa: N802 (protobuf's name)
        """The Example that these bytes are."""
        data = bytes(serialized)
        features: dict[str, Feature] = {}
        try:
            for name, stored in find_features(data).items():
                features[name] = _DECODED[stored.kind](stored, data)
        except ExampleError as error:
            raise ExampleError(
                f"Example.FromString: these {len(data)} bytes are no Example: {error}. Expected what "
                f"SerializeToString gave; was it compressed, cut, or is it another message?"
            ) from None
        return Example(features=Features(feature=features))


class _ByName(dict[str, Feature]):
    """As protobuf has it, asking for a name that is not there makes an empty Feature."""

    def __missing__(self, name: str) -> Feature:
        return self.setdefault(name, Feature())


_DECODED: Final[Mapping[int, Callable[[Stored, bytes], Feature]]] = {
    0: lambda stored, data: Feature(),
    BYTES: lambda stored, data: Feature(bytes_list=BytesList(stored.byte_strings(data))),
    FLOAT: lambda stored, data: Feature(float_list=FloatList(stored.floats(data).tolist())),
    INT64: lambda stored, data: Feature(int64_list=Int64List(stored.int64s(data).tolist())),
}


def _listed(values: Iterable[Any], name: str) -> list[Any]:
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, bytes | str) or not isinstance(values, Iterable):
        raise TypeError(f"{name} got {values!r}, which is one value. Expected a list of them: write [{values!r}].")
    return list(values)
