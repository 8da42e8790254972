"""tf.train.SequenceExample: lists of features beside plain ones.

SequenceExample { Features context = 1, FeatureLists feature_lists = 2 }
FeatureLists    { map<string, FeatureList> feature_list = 1 }      an entry is { key = 1, value = 2 }
FeatureList     { repeated Feature feature = 1 }
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from unisono._src.data.files._example import Feature, Features
from unisono._src.data.files._message import Message
from unisono._src.data.files._wire import DELIMITED, ExampleError, decode_fields, encode_field


@dataclass
class FeatureList(Message):
    """Features one after the other: one for each step of a sequence.

    >>> from unisono.io import Int64List
    >>> steps = FeatureList(feature=[Feature(int64_list=Int64List(value=[1])), Feature()])
    >>> len(FeatureList.FromString(steps.SerializeToString()).feature)
    2
    """

    feature: list[Feature] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.feature = list(self.feature)
        if not all(isinstance(each, Feature) for each in self.feature):
            raise TypeError(f"FeatureList got {self.feature!r}. Expected a list of Features, one for each step.")

    def _serialized(self) -> bytes:
        return b"".join([encode_field(1, each._serialized()) for each in self.feature])

    @classmethod
    def FromString(cls, serialized: bytes) -> FeatureList:  # noqa: N802 (protobuf's name)
        return cls([Feature.FromString(part) for _, part in _parts(bytes(serialized), "FeatureList", 1)])


class _ByName(dict[str, FeatureList]):
    """As protobuf has it, asking for a name that is not there makes an empty list."""

    def __missing__(self, name: str) -> FeatureList:
        return self.setdefault(name, FeatureList())


@dataclass
class FeatureLists(Message):
    """Lists of features by name."""

    feature_list: dict[str, FeatureList] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, each in self.feature_list.items():
            if not isinstance(name, str) or not isinstance(each, FeatureList):
                raise TypeError(f"FeatureLists got {name!r}: {type(each).__name__}. Expected names and FeatureLists.")
        self.feature_list = _ByName(self.feature_list)

    def _serialized(self) -> bytes:
        entries = [(name, self.feature_list[name]) for name in sorted(self.feature_list)]
        return b"".join(
            [
                encode_field(1, encode_field(1, name.encode()) + encode_field(2, each._serialized()))
                for name, each in entries
            ]
        )

    @classmethod
    def FromString(cls, serialized: bytes) -> FeatureLists:  # noqa: N802 (protobuf's name)
        lists: dict[str, FeatureList] = {}
        for _, entry in _parts(bytes(serialized), "FeatureLists", 1):
            parts = dict(_parts(entry, "FeatureLists.feature_list", 1, 2))
            lists[parts.get(1, b"").decode()] = FeatureList.FromString(parts.get(2, b""))
        return cls(lists)


@dataclass
class SequenceExample(Message):
    """An Example whose features may be sequences: `context` belongs to all steps, `feature_lists` has one per step.

    >>> example = SequenceExample()
    >>> example.feature_lists.feature_list["words"].feature.append(Feature())
    >>> len(SequenceExample.FromString(example.SerializeToString()).feature_lists.feature_list["words"].feature)
    1
    """

    context: Features = field(default_factory=Features)
    feature_lists: FeatureLists = field(default_factory=FeatureLists)

    def _serialized(self) -> bytes:
        parts = ((1, self.context._serialized()), (2, self.feature_lists._serialized()))
        return b"".join([encode_field(number, content) for number, content in parts if content])

    @classmethod
    def FromString(cls, serialized: bytes) -> SequenceExample:  # noqa: N802 (protobuf's name)
        context = lists = b""
        for number, part in _parts(bytes(serialized), "SequenceExample", 1, 2):
            # Of a field that comes twice both are parts of one message.
            context, lists = (context + part, lists) if number == 1 else (context, lists + part)
        return cls(Features.FromString(context), FeatureLists.FromString(lists))


def _parts(data: bytes, message: str, *numbers: int) -> Iterator[tuple[int, bytes]]:
    """The fields with these numbers, which hold messages or text."""
    try:
        for number, wire_type, start, stop in decode_fields(data, 0, len(data)):
            if number in numbers:
                if wire_type != DELIMITED:
                    raise ExampleError(f"the field at byte {start} has wire type {wire_type}")
                yield number, data[start:stop]
    except ExampleError as error:
        raise ExampleError(f"These {len(data)} bytes are no {message}: {error}.") from None
