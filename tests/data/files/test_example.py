import contextlib
import copy
import doctest
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import descriptor_pool
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

import unisono.io
from unisono.io import (
    BytesList,
    Example,
    ExampleError,
    Feature,
    Features,
    FloatList,
    Int64List,
    RecordFile,
    SequenceExample,
    VarLenFeature,
    encode_example,
    parse_single_example,
)

RECORDED = Path(__file__).parent / "recorded"
ANSWERS = json.loads((RECORDED / "answers.json").read_text())
RECORDS = [payload for payload, _ in RecordFile(RECORDED / "examples.tfrecord").read()]

INT64S = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(width=32, allow_nan=False)


def plain(example: Example) -> dict[str, list]:
    out = {}
    for name, feature in example.features.feature.items():
        kind = feature.WhichOneof("kind")
        values = getattr(feature, kind).value
        out[name] = [kind, [value.hex() for value in values] if kind == "bytes_list" else values]
    return out


def test_examples_of_tensorflow_are_read():
    assert [plain(Example.FromString(record)) for record in RECORDS] == ANSWERS["examples"]


def test_examples_of_tensorflow_are_written_the_same_but_for_the_order_of_names():
    for record in RECORDS:
        ours = Example.FromString(record).SerializeToString()
        assert len(ours) == len(record)
        assert Example.FromString(ours) == Example.FromString(record)
    only = RECORDS[4]  # one name, one order
    assert Example.FromString(only).SerializeToString() == only


def test_the_constructors_that_people_write_work():
    example = Example(
        features=Features(
            feature={
                "image": Feature(bytes_list=BytesList(value=[b"\0\1\0"])),
                "size": Feature(int64_list=Int64List(value=np.array([2, -3]))),
                "box": Feature(float_list=FloatList(value=(0.5, 1))),
            }
        )
    )
    read = Example.FromString(example.SerializeToString())
    assert read == example
    assert read.features.feature["image"].bytes_list.value == [b"\0\1\0"]
    assert read.features.feature["size"].int64_list.value[0] == 2
    assert read.features.feature["box"].float_list.value == [0.5, 1.0]


def test_values_may_be_added_to_a_list():
    feature = Feature()
    assert feature.WhichOneof("kind") is None
    feature.int64_list.value.extend([1, 2])
    assert feature.WhichOneof("kind") == "int64_list"
    example = Example()
    example.features.feature["x"].CopyFrom(feature)
    assert Example.FromString(example.SerializeToString()).features.feature["x"].int64_list.value == [1, 2]


def test_the_kind_of_an_empty_list_survives():
    example = Example(features=Features(feature={"x": Feature(float_list=FloatList()), "y": Feature()}))
    read = Example.FromString(example.SerializeToString()).features.feature
    assert [read[name].WhichOneof("kind") for name in "xy"] == ["float_list", None]


def test_names_are_written_in_order():
    assert encode_example({"b": 1, "a": 2}) == encode_example({"a": 2, "b": 1})
    assert encode_example({"b": 1, "a": 2}).index(b"a") < encode_example({"b": 1, "a": 2}).index(b"b")


@pytest.mark.slow
@given(st.lists(INT64S, max_size=40), st.lists(FLOATS), st.lists(st.binary(max_size=200)), st.text(max_size=9))
def test_every_value_survives(ints, floats, strings, name):
    features = {
        name: Feature(int64_list=Int64List(value=ints)),
        name + "f": Feature(float_list=FloatList(value=floats)),
        name + "s": Feature(bytes_list=BytesList(value=strings)),
    }
    read = Example.FromString(Example(features=Features(feature=features)).SerializeToString()).features.feature
    assert read[name].int64_list.value == ints
    assert read[name + "f"].float_list.value == floats
    assert read[name + "s"].bytes_list.value == strings


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (b"a\0", "bytes_list", [b"a\0"]),
        ("ö", "bytes_list", ["ö".encode()]),
        (["a", b"b\0"], "bytes_list", [b"a", b"b\0"]),
        (np.array([b"a", b"b"]), "bytes_list", [b"a", b"b"]),
        (np.array(["a", "b"]), "bytes_list", [b"a", b"b"]),
        (np.array([b"a\0", "b"], object), "bytes_list", [b"a\0", b"b"]),
        (3, "int64_list", [3]),
        (True, "int64_list", [1]),
        ([1, -2], "int64_list", [1, -2]),
        (np.arange(6).reshape(2, 3), "int64_list", [0, 1, 2, 3, 4, 5]),
        (np.uint8([255]), "int64_list", [255]),
        (np.empty(0, np.int32), "int64_list", []),
        (0.5, "float_list", [0.5]),
        ([1, 0.5], "float_list", [1.0, 0.5]),
        (np.float16([[1.5], [2.5]]), "float_list", [1.5, 2.5]),
        (np.float64(1e300), "float_list", [float("inf")]),
        (np.empty(0), "float_list", []),
        ([], None, None),
    ],
)
def test_the_short_way_takes_what_people_have(value, kind, expected):
    feature = Example.FromString(encode_example({"x": value})).features.feature["x"]
    assert feature.WhichOneof("kind") == kind
    if kind:
        assert getattr(feature, kind).value == expected


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (None, TypeError, "'x' got None"),
        ([1, b"a"], TypeError, "'x' got 1"),
        (1j, TypeError, "dtype complex128"),
        ([[1], [1, 2]], ValueError, "'x' is not one array"),
        (np.uint64(2**63), ValueError, "'x' got 9223372036854775808"),
        ([2**70], TypeError, "'x' got 1180591620717411303424"),
        (np.datetime64("2020-01-01"), TypeError, "dtype datetime64"),
    ],
)
def test_the_short_way_refuses_what_an_example_cannot_hold(value, error, words):
    with pytest.raises(error, match=words):
        encode_example({"x": value})


def test_a_name_must_be_text():
    with pytest.raises(TypeError, match="3 is no name"):
        encode_example({3: 3})


def test_lists_refuse_values_of_another_kind():
    with pytest.raises(TypeError, match=r"Int64List got \[1\.5\]"):
        Int64List(value=[1.5])
    with pytest.raises(TypeError, match="BytesList got 3"):
        BytesList(value=[3])
    with pytest.raises(TypeError, match="FloatList got"):
        FloatList(value=["1"])
    with pytest.raises(TypeError, match=r"BytesList got b'ab', which is one value.*\[b'ab'\]"):
        BytesList(value=b"ab")
    with pytest.raises(TypeError, match="Int64List got 3, which is one value"):
        Int64List(value=3)


def test_a_feature_holds_one_list():
    with pytest.raises(ValueError, match="Feature got bytes_list and int64_list"):
        Feature(bytes_list=BytesList(), int64_list=Int64List())
    feature = Feature(int64_list=Int64List(value=[1]))
    feature.float_list.value.append(1.0)  # as in TensorFlow, the other list is dropped
    assert feature.WhichOneof("kind") == "float_list"
    assert feature.int64_list.value == []
    with pytest.raises(ValueError, match="sort"):
        feature.WhichOneof("sort")


def test_features_are_features():
    with pytest.raises(TypeError, match=r"Features got feature=\{'x': int\}.*Write Features\(feature="):
        Features(feature={"x": 3})


def field(number: int, content: bytes) -> bytes:
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def record(feature: bytes) -> bytes:
    return field(1, field(1, field(1, b"x") + field(2, feature)))


def read(data: bytes) -> Feature:
    return Example.FromString(data).features.feature["x"]


def test_numbers_that_are_not_packed_are_read():
    assert read(record(field(3, bytes.fromhex("08 05 08 ac02")))).int64_list.value == [5, 300]
    assert read(record(field(2, bytes.fromhex("0d 0000803f 0d 00000040")))).float_list.value == [1.0, 2.0]
    mixed = field(1, b"\1\2") + b"\x08\3" + field(1, b"\4")
    assert read(record(field(3, mixed))).int64_list.value == [1, 2, 3, 4]


def test_unknown_fields_are_skipped():
    known = field(3, field(1, b"\7"))
    group = bytes.fromhex("5b 08 01 63 08 02 64 52 02 0102 5c")  # field 11: a number, group 12, a string
    for unknown in (field(9, b"abc"), b"\x48\x96\x01", b"\x49" + bytes(8), b"\x4d" + bytes(4), group):
        assert read(record(unknown + known + unknown)).int64_list.value == [7]
        entry = field(1, b"x") + unknown + field(2, known)
        data = unknown + field(1, unknown + field(1, entry)) + unknown  # protobuf drops entries with unknown fields
        assert parse_single_example(data, {"x": VarLenFeature("int64")})["x"].tolist() == [7]
        assert read(unknown + record(known) + unknown).int64_list.value == [7]


def test_the_last_of_two_is_the_one_as_in_protobuf():
    ints, floats = field(3, field(1, b"\7")), field(2, field(1, bytes(4)))
    assert read(record(ints) + record(floats)).WhichOneof("kind") == "float_list"
    assert read(record(ints + floats)).WhichOneof("kind") == "float_list"
    assert read(record(ints + ints)).int64_list.value == [7, 7]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x0a", "a number that begins at byte 1"),
        (b"\x0a\x05ab", "field at byte 0 ends at byte 7, past the end of its message at byte 4"),
        (b"\x02\x00", "has the number 0"),
        (b"\x0f", "wire type 7"),
        (b"\x0c", "wire type 4"),
        (b"\x5b\x08\x01", "a group is not closed before byte 3"),
        (b"\x5b" * 200, "wire type 3"),
        (b"\xff" * 12, "longer than 10 bytes"),
        (field(1, field(1, field(1, b"\xff"))), "is not UTF-8"),
        (record(field(2, field(1, b"abc"))), "3 bytes at byte .* are no whole number of float32"),
        (record(field(3, field(1, b"\x80"))), "not finished"),
        (record(field(3, field(1, b"\x80") + field(1, b"\1"))), "not finished"),
        (record(field(3, field(1, b"\xff" * 11 + b"\1"))), "longer than 10 bytes"),
        (record(field(3, field(1, b"\xff" * 60 + b"\1"))), "longer than 10 bytes"),
    ],
)
def test_damage_is_refused_with_its_position(data, words):
    with pytest.raises(ExampleError, match=words) as caught:
        Example.FromString(data)
    assert isinstance(caught.value, DecodeError)
    with pytest.raises(ExampleError, match=words):
        Example().ParseFromString(data)
    with pytest.raises(ExampleError, match=words):
        parse_single_example(data, {"x": VarLenFeature("int64" if b"\x1a" in data else "float32")})


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x08\x01", "Example.features was expected at byte 1"),
        (record(field(3, b"\x0d" + bytes(4))), "a list of int64 has a value of wire type 5"),
    ],
)
def test_fields_of_another_type_are_refused_where_features_are_requested(data, words):
    assert Example.FromString(data).SerializeToString() == data  # to protobuf they are unknown fields
    with pytest.raises(ExampleError, match=words):
        parse_single_example(data, {"x": VarLenFeature("int64")})


def test_damage_in_other_messages_is_an_example_error():
    for message in (Feature, Features, Int64List, SequenceExample):
        with pytest.raises(ExampleError, match=f"these 1 bytes are no {message.__name__}"):
            message.FromString(b"\x0a")


def test_messages_can_be_copied_and_pickled():
    example = Example.FromString(RECORDS[0])
    assert copy.deepcopy(example) == example
    assert pickle.loads(pickle.dumps(example)) == example


def test_the_messages_are_not_in_the_default_pool():
    # A TensorFlow in the same process registers tensorflow.Example there.
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("tensorflow.Example")


@given(st.binary(max_size=60))
def test_any_bytes_are_an_example_or_an_error(data):
    try:
        example = Example.FromString(data)
    except ExampleError:
        return
    assert Example.FromString(example.SerializeToString()).SerializeToString() == example.SerializeToString()


@given(st.data())
def test_any_changed_example_is_an_example_or_an_error(data):
    changed = bytearray(data.draw(st.sampled_from(RECORDS[:5])))
    changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ExampleError):
        Example.FromString(bytes(changed))


def test_the_examples_in_the_messages_docstrings_run():
    # The classes say that they are in unisono.io, so the test of all docstrings does not find them in their file.
    assert doctest.testmod(unisono.io) == (0, 14)
