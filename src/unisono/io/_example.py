"""tf.train.Example and its parts, under the names and with the constructors that people know.

Plain dataclasses. The bytes are those of the protobuf messages; no protobuf library is involved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

from unisono.io._stored import BYTES, FLOAT, INT64, Stored, encode_features, find_features
from unisono.io._values import as_bytes, as_floats, as_int64s
from unisono.io._wire import ExampleError, encode_field, encode_varints

Kind = Literal["bytes_list", "float_list", "int64_list"]

_KINDS: Final[dict[Kind, int]] = {"bytes_list": BYTES, "float_list": FLOAT, "int64_list": INT64}


@dataclass
class BytesList:
    """Byte strings; text is encoded as UTF-8.

    >>> BytesList(value=[b"raw", "text"])
    BytesList(value=[b'raw', b'text'])
    """

    value: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.value = as_bytes(_listed(self.value, "BytesList"), "BytesList")

    def _content(self) -> bytes:
        return b"".join([encode_field(1, value) for value in as_bytes(self.value, "BytesList")])


@dataclass
class FloatList:
    """Numbers of 32 bits.

    >>> FloatList(value=[0.5, 2])
    FloatList(value=[0.5, 2.0])
    """

    value: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.value = as_floats(_listed(self.value, "FloatList"), "FloatList").tolist()

    def _content(self) -> bytes:
        return encode_field(1, as_floats(self.value, "FloatList").tobytes()) if self.value else b""


@dataclass
class Int64List:
    """Whole numbers of 64 bits.

    >>> Int64List(value=np.arange(3))
    Int64List(value=[0, 1, 2])
    """

    value: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.value = as_int64s(_listed(self.value, "Int64List"), "Int64List").tolist()

    def _content(self) -> bytes:
        return encode_field(1, encode_varints(as_int64s(self.value, "Int64List"))) if self.value else b""


@dataclass(init=False)
class Feature:
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

    def _encoded(self) -> tuple[int, bytes]:
        kind = self.WhichOneof("kind")
        return (_KINDS[kind], getattr(self, kind)._content()) if kind else (0, b"")


@dataclass
class Features:
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
        self.feature = dict(self.feature)


@dataclass
class Example:
    """What a record of a TFRecord file usually holds: lists of numbers or byte strings, by name.

    >>> example = Example(features=Features(feature={"x": Feature(int64_list=Int64List(value=[1, -1]))}))
    >>> serialized = example.SerializeToString()
    >>> Example.FromString(serialized).features.feature["x"].int64_list.value
    [1, -1]
    """

    features: Features = field(default_factory=Features)

    def SerializeToString(self) -> bytes:  # noqa: N802 (protobuf's name)
        """The bytes to write into a file. Equal Examples give equal bytes: names are sorted."""
        return encode_features({name: feature._encoded() for name, feature in self.features.feature.items()})

    @staticmethod
    def FromString(serialized: bytes) -> Example:  # noqa: N802 (protobuf's name)
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
