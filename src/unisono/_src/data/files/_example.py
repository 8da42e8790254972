"""tf.train.Example, SequenceExample and their parts: protobuf messages, made from their schema when this is imported.

The schema is in a pool of its own, because a TensorFlow in the same process registers the same names in protobuf's
default pool. Three things differ from what protobuf generates: constructors say what to type when an argument is wrong,
damaged bytes are an :class:`ExampleError`, and equal messages give equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from unisono._src.data.files._feature_spans import find_features
from unisono._src.data.files._values import as_bytes, as_floats, as_int64s
from unisono._src.data.files._wire import ExampleError

_PACKAGE: Final = "tensorflow"
_PUBLIC_MODULE: Final = "unisono.io"  # where pickle finds the classes

# The fields of each message are numbered from 1 in this order.
_SCHEMA: Final = {
    "BytesList": {"value": "repeated bytes"},
    "FloatList": {"value": "repeated float"},
    "Int64List": {"value": "repeated int64"},
    "Feature": {"bytes_list": "oneof BytesList", "float_list": "oneof FloatList", "int64_list": "oneof Int64List"},
    "Features": {"feature": "map Feature"},
    "Example": {"features": "optional Features"},
    "FeatureList": {"feature": "repeated Feature"},
    "FeatureLists": {"feature_list": "map FeatureList"},
    "SequenceExample": {"context": "optional Features", "feature_lists": "optional FeatureLists"},
}

_Field: Final = descriptor_pb2.FieldDescriptorProto
_SCALARS: Final = {"bytes": _Field.TYPE_BYTES, "float": _Field.TYPE_FLOAT, "int64": _Field.TYPE_INT64}


def _build_pool() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="unisono/example.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _SCHEMA.items():
        message = file.message_type.add(name=name)
        for number, (field, declaration) in enumerate(fields.items(), start=1):
            _add_field(message, field, number, *declaration.split())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _add_field(message: Any, name: str, number: int, rule: str, kind: str) -> None:
    if rule == "map":  # protobuf stores a map as a repeated message with a key and a value
        entry = message.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, type=_Field.TYPE_STRING, label=_Field.LABEL_OPTIONAL)
        _add_field(entry, "value", 2, "optional", kind)
        rule, kind = "repeated", f"{message.name}.{entry.name}"
    label = _Field.LABEL_REPEATED if rule == "repeated" else _Field.LABEL_OPTIONAL
    field = message.field.add(name=name, number=number, label=label, type=_SCALARS.get(kind, _Field.TYPE_MESSAGE))
    if kind not in _SCALARS:
        field.type_name = f".{_PACKAGE}.{kind}"
    if rule == "oneof":
        if not message.oneof_decl:
            message.oneof_decl.add(name="kind")
        field.oneof_index = 0


_POOL: Final = _build_pool()


def _message_class(name: str, doc: str) -> Any:
    cls: Any = message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
    cls.__module__, cls.__doc__ = _PUBLIC_MODULE, doc
    _check_arguments(cls)
    _explain_decode_errors(cls)
    serialize = cls.SerializeToString

    def SerializeToString(self: Any, **kwargs: Any) -> bytes:  # noqa: N802 (protobuf's name)
        """The bytes to write into a file. Equal messages give equal bytes: names are sorted."""
        data: bytes = serialize(self, **(kwargs | {"deterministic": True}))
        return data

    cls.SerializeToString = SerializeToString
    return cls


def _check_arguments(cls: Any) -> None:
    """Replaces the constructor by one that says what to type. Protobuf says "expected bytes, int found"."""
    construct = cls.__init__
    convert = _CONVERSIONS.get(cls.__name__)

    def __init__(self: Any, **fields: Any) -> None:  # noqa: N807
        given = {name: value for name, value in fields.items() if value is not None}
        if convert is not None and "value" in given:
            given["value"] = convert(_as_list(given["value"], cls.__name__), cls.__name__)
        if cls.__name__ == "Feature" and len(given) > 1:
            raise ValueError(
                f"Feature got {' and '.join(given)}. Expected one list: give each its own name, "
                "Features(feature={'a': Feature(int64_list=...), 'b': Feature(float_list=...)})."
            )
        try:
            construct(self, **given)
        except TypeError as error:
            raise TypeError(_wrong_arguments(cls.__name__, given, error)) from None

    cls.__init__ = __init__


_CONVERSIONS: Final[dict[str, Callable[[list[Any], str], list[Any]]]] = {
    "BytesList": as_bytes,
    "FloatList": lambda values, name: as_floats(values, name).tolist(),
    "Int64List": lambda values, name: as_int64s(values, name).tolist(),
}


def _as_list(values: Iterable[Any], name: str) -> list[Any]:
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, bytes | str) or not isinstance(values, Iterable):
        raise TypeError(f"{name} got {values!r}, which is one value. Expected a list of them: write [{values!r}].")
    return list(values)


def _wrong_arguments(name: str, given: Mapping[str, Any], error: TypeError) -> str:
    found = ", ".join(f"{field}={_describe(value)}" for field, value in given.items())
    fields = ", ".join(f"{field}: {declaration}" for field, declaration in _SCHEMA[name].items())
    return (
        f"{name} got {found} ({error}). Expected {fields}. Write Features(feature={{'x': "
        "Feature(int64_list=Int64List(value=[1]))}), or shorter, encode_example({'x': 1})."
    )


def _describe(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {type(each).__name__}' for key, each in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(type(each).__name__ for each in value)}]"
    return type(value).__name__


def _explain_decode_errors(cls: Any) -> None:
    """Makes the parsing methods raise an ExampleError that says where an Example is damaged."""
    from_string, parse, merge = cls.FromString, cls.ParseFromString, cls.MergeFromString

    def parse_or_explain(method: Callable[..., Any], *arguments: Any) -> Any:
        data = bytes(arguments[-1])
        try:
            return method(*arguments[:-1], data)
        except ExampleError:  # already explained: protobuf's pure Python implementation calls one through the other
            raise
        except (DecodeError, UnicodeDecodeError) as error:  # the second one from the pure Python implementation
            damage = _find_damage(data) if cls.__name__ == "Example" else None
            raise ExampleError(
                f"{cls.__name__}.FromString: these {len(data)} bytes are no {cls.__name__}: "
                f"{damage or error}. Expected what SerializeToString gave; was it compressed, cut, or is it another "
                "message?"
            ) from None

    def new_from_string(serialized: bytes) -> Any:
        """The message that was written by `SerializeToString`."""
        return parse_or_explain(from_string, serialized)

    def parse_from_string(self: Any, serialized: bytes) -> Any:
        """Replaces the contents of this message by parsing serialized bytes; returns the number of bytes."""
        return parse_or_explain(parse, self, serialized)

    def merge_from_string(self: Any, serialized: bytes) -> Any:
        """Merges serialized bytes into this message; returns the number of bytes."""
        return parse_or_explain(merge, self, serialized)

    cls.FromString = staticmethod(new_from_string)
    cls.ParseFromString = parse_from_string
    cls.MergeFromString = merge_from_string


def _find_damage(data: bytes) -> str | None:
    """What is wrong with a serialized Example, with the byte where it is. Protobuf says "Wire format was corrupt"."""
    try:
        for spans in find_features(data).values():
            spans.decode(data)
    except ExampleError as error:
        return str(error)
    return None


BytesList: Any = _message_class(
    "BytesList",
    """Byte strings; text is encoded as UTF-8.

    >>> BytesList(value=[b"raw", "text"]).value
    [b'raw', b'text']
    """,
)
FloatList: Any = _message_class(
    "FloatList",
    """Numbers of 32 bits.

    >>> FloatList(value=[0.5, 2]).value
    [0.5, 2.0]
    """,
)
Int64List: Any = _message_class(
    "Int64List",
    """Whole numbers of 64 bits.

    >>> import numpy as np
    >>> Int64List(value=np.arange(3)).value
    [0, 1, 2]
    """,
)
Feature: Any = _message_class(
    "Feature",
    """One list, of one of the three kinds. Values added to another kind replace it.

    >>> feature = Feature(int64_list=Int64List(value=[7]))
    >>> feature.int64_list.value, feature.float_list.value, feature.WhichOneof("kind")
    ([7], [], 'int64_list')
    """,
)
Features: Any = _message_class("Features", "Features by name.")
Example: Any = _message_class(
    "Example",
    """What a record of a TFRecord file usually holds: lists of numbers or byte strings, by name.

    >>> example = Example(features=Features(feature={"x": Feature(int64_list=Int64List(value=[1, -1]))}))
    >>> serialized = example.SerializeToString()
    >>> Example.FromString(serialized).features.feature["x"].int64_list.value
    [1, -1]
    """,
)
FeatureList: Any = _message_class(
    "FeatureList",
    """A sequence of Features: one for each step of it.

    >>> steps = FeatureList(feature=[Feature(int64_list=Int64List(value=[1])), Feature()])
    >>> len(FeatureList.FromString(steps.SerializeToString()).feature)
    2
    """,
)
FeatureLists: Any = _message_class("FeatureLists", "Lists of features by name.")
SequenceExample: Any = _message_class(
    "SequenceExample",
    """An Example whose features may be sequences: `context` belongs to all steps, `feature_lists` has one per step.

    >>> example = SequenceExample()
    >>> _ = example.feature_lists.feature_list["words"].feature.add()
    >>> len(SequenceExample.FromString(example.SerializeToString()).feature_lists.feature_list["words"].feature)
    1
    """,
)
