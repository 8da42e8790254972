import itertools
import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisono._src.data.files._parser import Parser
from unisono.io import (
    Example,
    ExampleError,
    Feature,
    Features,
    FixedLenFeature,
    Int64List,
    RecordFile,
    VarLenFeature,
    decode_raw,
    encode_example,
    parse_example,
    parse_single_example,
)

pytestmark = pytest.mark.slow

RECORDED = Path(__file__).parent / "recorded"
ANSWERS = json.loads((RECORDED / "answers.json").read_text())
RECORDS = [payload for payload, _ in RecordFile(RECORDED / "examples.tfrecord").read()]

IMAGE = {"image": FixedLenFeature((), "string"), "label": FixedLenFeature((), "int64")}


def equal(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    """To the bit, NaNs included."""
    return list(one) == list(other) and all(map(same, one.values(), other.values()))


def same(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype == object and not all(type(value) is bytes for array in (a, b) for value in array.ravel().tolist()):
        return False
    bits = (lambda x: x.tolist()) if a.dtype == object else (lambda x: x.tobytes())
    return a.dtype == b.dtype and a.shape == b.shape and bits(a) == bits(b)


def test_a_batch_is_parsed_as_tensorflow_parses_it():
    features = {
        "label": FixedLenFeature([], np.int64),
        "pixels": FixedLenFeature([2, 2], np.float32),
        "name": FixedLenFeature([], "string"),
        "weight": FixedLenFeature([], "float32", default_value=1.5),
    }
    parsed = parse_example(RECORDS[:2], features)
    assert {name: array.tolist() for name, array in parsed.items() if name != "name"} == {
        name: values for name, values in ANSWERS["parsed"].items() if name != "name"
    }
    assert [value.hex() for value in parsed["name"]] == ANSWERS["parsed"]["name"]
    for row, record in enumerate(RECORDS[:2]):
        one = parse_single_example(record, features)
        assert equal(one, {name: array[row, ...] for name, array in parsed.items()})


@pytest.mark.parametrize("case", ANSWERS["refused"])
def test_what_tensorflow_refuses_is_refused_and_nothing_else(case):
    content = {}
    if "no kind" in case:
        content = {"x": Feature()}
    elif "empty" in case:
        content = {"x": Feature(int64_list=Int64List())}
    elif "other kind" in case or case == "too few":
        content = {"x": Feature(int64_list=Int64List(value=[1]))}
    dtype = "float32" if "other kind" in case else "int64"
    shape = (2,) if case == "too few" else (0,) if case in ("empty list, no values asked", "other kind, empty") else ()
    requested = (
        VarLenFeature(dtype) if "variable" in case else FixedLenFeature(shape, dtype, 3 if "default" in case else None)
    )
    record = Example(features=Features(feature=content)).SerializeToString()
    for _ in range(3):  # the general way, the learning and the fast one
        if ANSWERS["refused"][case]:
            with pytest.raises(ExampleError, match="feature 'x'"):
                parse_single_example(record, {"x": requested})
        else:
            parsed = parse_single_example(record, {"x": requested})["x"]
            assert parsed.tolist() == (3 if "default" in case else [])
            assert parsed.dtype == dtype


def test_shapes_and_dtypes_are_those_requested():
    record = encode_example({"f": np.arange(6.0), "i": [1, -2], "s": [b"a\0", b""], "one": b"\0"})
    features = {
        "one": FixedLenFeature((), bytes),
        "s": FixedLenFeature((2, 1), str),
        "i": FixedLenFeature([2], int),
        "f": FixedLenFeature((3, 2), np.float32),
        "v": VarLenFeature("float32"),
        "w": VarLenFeature(object),
    }
    for _ in range(3):
        parsed = parse_single_example(record, features)
        assert list(parsed) == list(features)
        assert parsed["f"].dtype == np.float32
        assert parsed["f"].tolist() == [[0, 1], [2, 3], [4, 5]]
        assert parsed["i"].dtype == np.int64
        assert parsed["i"].tolist() == [1, -2]
        assert parsed["s"].dtype == object
        assert parsed["s"].tolist() == [[b"a\0"], [b""]]
        assert parsed["one"].shape == ()
        assert parsed["one"].item() == b"\0"
        assert parsed["v"].shape == (0,)
        assert parsed["v"].dtype == np.float32
        assert parsed["w"].dtype == object


def test_a_record_may_come_as_an_array_of_no_dimension():
    record = encode_example({"label": 0})
    requested = {"label": FixedLenFeature((), "int64")}
    held = np.empty((), object)
    held[()] = record
    for serialized in (record, held, np.bytes_(record)):
        assert parse_single_example(serialized, requested)["label"] == 0
    batch = np.empty(2, object)
    batch[:] = [record, record]
    for serialized in (batch, list(batch), (record, np.bytes_(record)), [held, record]):
        assert parse_example(serialized, requested)["label"].tolist() == [0, 0]


def test_defaults_have_the_requested_shape():
    features = {
        "a": FixedLenFeature((2, 2), "float32", default_value=0.5),
        "b": FixedLenFeature((2,), "int64", default_value=[1, 2]),
        "c": FixedLenFeature((2,), "string", default_value=["x", b"y\0"]),
        "d": FixedLenFeature((), "string", default_value=""),
        "e": FixedLenFeature((2, 1), "float32", default_value=np.float32([[1], [2]])),
    }
    record = encode_example({"other": 1})
    for _ in range(3):
        parsed = parse_single_example(record, features)
        assert {name: array.tolist() for name, array in parsed.items()} == {
            "a": [[0.5, 0.5], [0.5, 0.5]],
            "b": [1, 2],
            "c": [b"x", b"y\0"],
            "d": b"",
            "e": [[1], [2]],
        }
    batch = parse_example([record] * 3, features)
    assert batch["a"].shape == (3, 2, 2)
    assert batch["c"].tolist() == [[b"x", b"y\0"]] * 3


@pytest.mark.parametrize("default", [[1, 2, 3], "x", 0.5, [[1, 2]] * 2])
def test_a_default_that_does_not_fit_is_refused(default):
    with pytest.raises(ValueError, match="default_value is"):
        FixedLenFeature((2,), "int64", default_value=default)


@pytest.mark.parametrize(
    ("dtype", "remedy"),
    [
        ("int32", r"'int64' here and parsed\[name\]\.astype\('int32'\)"),
        (np.uint8, r"'int64' here and .*decode_raw\(parsed\[name\], 'uint8'\)"),
        (bool, r"'int64' here and parsed\[name\]\.astype\('bool'\)"),
        ("float16", r"'float32' here and parsed\[name\]\.astype\('float16'\)"),
        (float, r"'float32' here and parsed\[name\]\.astype\('float64'\)"),
    ],
)
def test_other_dtypes_are_refused_with_the_cast_to_write(dtype, remedy):
    for make in (lambda: FixedLenFeature((), dtype), lambda: VarLenFeature(dtype)):
        with pytest.raises(ExampleError, match=remedy):
            make()


@pytest.mark.parametrize("dtype", [None, "words", 3])
def test_what_is_no_dtype_is_refused(dtype):
    with pytest.raises(TypeError, match=r"dtype is .* Expected 'float32', 'int64' or 'string'"):
        VarLenFeature(dtype)


@pytest.mark.parametrize("shape", [784, (None,), (-1, 2), None, "ab", (2.0,)])
def test_what_is_no_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"shape is .*write VarLenFeature\(dtype\)"):
        FixedLenFeature(shape, "int64")


def test_errors_name_the_feature_and_what_was_found():
    record = encode_example({"x": [1, 2, 3], "f": 0.5})
    for requested, words in (
        ({"y": FixedLenFeature((), "int64")}, "feature 'y' is missing. Expected int64 of shape ()"),
        ({"x": FixedLenFeature((), "int64")}, "feature 'x' holds 3 values, but 1 were requested (shape ())"),
        ({"x": FixedLenFeature((3,), "float32")}, "feature 'x' holds int64, but float32 was requested"),
        ({"f": FixedLenFeature((2,), "float32")}, "feature 'f' holds 1 value, but 2 were requested (shape (2,))"),
        ({"f": VarLenFeature("string")}, "feature 'f' holds float32, but bytes was requested"),
    ):
        with pytest.raises(ExampleError) as caught:
            parse_single_example(record, requested)
        assert str(caught.value).startswith("parse_single_example: " + words)
    good = encode_example({"y": 1, "x": 2, "f": 0.5})
    with pytest.raises(ExampleError, match="parse_example: record 1 of the batch: feature 'y' is missing"):
        parse_example([good, record, good], {"y": FixedLenFeature((), "int64")})
    with pytest.raises(ExampleError, match=r"these 3 bytes are no serialized Example: .*byte 0"):
        parse_single_example(b"\x0a\x09a", IMAGE)


def test_a_feature_of_variable_length_does_not_stack():
    with pytest.raises(ExampleError, match=r"'x' is a VarLenFeature.*parse_single_example.*padded_batch"):
        parse_example([b""], {"x": VarLenFeature("int64")})


def test_features_must_be_requested_and_be_features():
    with pytest.raises(ValueError, match="no features are requested"):
        parse_single_example(b"", {})
    with pytest.raises(TypeError, match="features has 'x': 'int64'"):
        parse_single_example(b"", {"x": "int64"})


def test_what_is_no_record_is_refused():
    with pytest.raises(TypeError, match=r"an array of shape \(2,\) and dtype object.*write parse_example"):
        parse_single_example(np.array([b"", b""], object), IMAGE)
    with pytest.raises(TypeError, match="dtype S has lost NULs"):
        parse_single_example(np.array(b"a"), IMAGE)
    with pytest.raises(TypeError, match="write parse_single_example for one record"):
        parse_example(b"", IMAGE)
    with pytest.raises(TypeError, match=r"dtype \|S1.*write list"):
        parse_example(np.array([b"a"]), IMAGE)
    with pytest.raises(TypeError, match="parse_example got 'text'"):
        parse_example(["text"], IMAGE)


def test_no_records_are_a_batch_too():
    parsed = parse_example([], {"x": FixedLenFeature((2,), "float32"), "s": FixedLenFeature((), "string")})
    assert parsed["x"].shape == (0, 2)
    assert parsed["s"].shape == (0,)


def test_features_written_again_find_the_same_parser():
    records = [encode_example({"label": label}) for label in range(5)]
    for label, record in enumerate(records):
        assert parse_single_example(record, {"label": FixedLenFeature((), "int64")})["label"] == label
        assert parse_single_example(record, {"label": FixedLenFeature((1,), "int64")})["label"].tolist() == [label]


def test_raw_bytes_are_decoded():
    for dtype in ("uint8", "int16", "float32", "float64", "bool", ">i4"):
        array = np.array([0, 1, 1, 0], dtype)
        decoded = decode_raw(array.tobytes(), dtype)
        assert decoded.tolist() == array.tolist()
        assert decoded.dtype == np.dtype(dtype).newbyteorder("=")
    rows = np.empty((2, 1), object)
    rows[:] = [[b"\1\0"], [b"\2\0"]]
    assert decode_raw(rows, "int16").tolist() == [[[1]], [[2]]]
    assert decode_raw(rows[0, ...][0:0], "int16").shape == (0, 0)
    assert (
        decode_raw(parse_single_example(encode_example({"x": b"\7\0"}), {"x": FixedLenFeature((), str)})["x"], "u1")[0]
        == 7
    )


def test_raw_bytes_must_fit():
    with pytest.raises(ValueError, match="3 bytes are no whole number of int16"):
        decode_raw(b"abc", "int16")
    with pytest.raises(ValueError, match="hold from 1 to 2 values"):
        decode_raw(np.array([b"a", b"ab"], object), "uint8")
    with pytest.raises(TypeError, match="dtype object has no bytes"):
        decode_raw(b"abc", object)
    with pytest.raises(TypeError, match="decode_raw got 'text'"):
        decode_raw("text", "uint8")


# The fast ways agree with the general one. Few names, lengths and values, so that layouts are met again.

INT_VALUES = st.sampled_from([0, 1, 127, 128, 300, 2**21, -1, -(2**63)])
VALUES = st.one_of(
    st.lists(INT_VALUES, max_size=3).map(lambda values: np.array(values, np.int64)),
    st.lists(st.sampled_from([0.0, 1.5, -2.0, float("nan")]), max_size=3).map(
        lambda values: np.array(values, np.float32)
    ),
    st.lists(st.sampled_from([b"", b"\0", b"a", b"bc", b"\xff\x80"]), max_size=3),
)
CONTENTS = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)
FIXED = st.builds(
    FixedLenFeature, st.sampled_from([(), (1,), (2,), (1, 2), (0,)]), st.sampled_from(["float32", "int64", "string"])
)
NAMES = st.sampled_from("abcde")  # e is in no record
VARIABLE = st.builds(VarLenFeature, st.sampled_from(["float32", "int64", "string"]))
DEFAULTED = st.sampled_from(
    [FixedLenFeature((), "int64", 5), FixedLenFeature((2,), "string", "x"), FixedLenFeature((1,), "float32", 0.5)]
)


def shuffled(content: dict, seed: int) -> bytes:
    """As a writer that does not sort the names would write it, perhaps with unknown fields."""
    names = list(content)
    random.Random(seed).shuffle(names)
    record = b"".join(encode_example({name: content[name]}) for name in names)  # messages that follow are merged
    return record + (b"\x48\x01" if seed % 5 == 0 else b"")


RECORD = st.builds(shuffled, CONTENTS, st.integers(0, 20))


@st.composite
def similar_records(draw) -> tuple[list[bytes], dict]:
    """Records of the same names and sizes, some with a byte changed; and features that mostly fit them."""
    content, seed = draw(CONTENTS), draw(st.integers(0, 3))
    records = []
    for _ in range(draw(st.integers(1, 6))):
        changed = {name: draw(OTHER[kind_of(values)](len(values))) for name, values in content.items()}
        record = bytearray(shuffled(changed, seed))
        if record and draw(st.integers(0, 2)) == 0:
            record[draw(st.integers(0, len(record) - 1))] = draw(st.sampled_from([0, 1, 2, 8, 10, 127, 128, 255]))
        records.append(bytes(record))
    fitting = {
        name: FixedLenFeature(
            (len(values),) if len(values) != 1 else draw(st.sampled_from([(), (1,)])), kind_of(values)
        )
        for name, values in content.items()
        if draw(st.integers(0, 3))
    }
    return records, fitting


OTHER = {
    "int64": lambda size: st.lists(INT_VALUES, min_size=size, max_size=size).map(lambda x: np.array(x, np.int64)),
    "float32": lambda size: st.binary(min_size=4 * size, max_size=4 * size).map(lambda x: np.frombuffer(x, np.float32)),
    "string": lambda size: st.lists(st.sampled_from([b"\0", b"a"]), min_size=size, max_size=size),
}


def kind_of(values) -> str:
    return str(values.dtype) if isinstance(values, np.ndarray) else "string"


@st.composite
def cases(draw, *, variable: bool) -> tuple[list[bytes], dict]:
    """Records, and the features requested from them."""
    records, features = draw(
        st.one_of(similar_records(), st.tuples(st.lists(RECORD, min_size=1, max_size=6), st.just({})))
    )
    if not features or draw(st.integers(0, 3)) == 0:
        any_kind = st.one_of(FIXED, DEFAULTED, VARIABLE) if variable else st.one_of(FIXED, DEFAULTED)
        features = features | draw(st.dictionaries(NAMES, any_kind, min_size=1, max_size=2))
    return records, features


def outcome(parse, *arguments):
    try:
        return parse(*arguments)
    except ExampleError as error:
        return str(error)


def agree(one, other) -> bool:
    return one == other if isinstance(one, str) or isinstance(other, str) else equal(one, other)


@settings(max_examples=100)
@given(cases(variable=True))
def test_single_records_are_parsed_fast_as_they_are_parsed_slowly(case):
    records, features = case
    parser = Parser(features)
    for record in records * 3:
        assert agree(outcome(parser.parse, record), outcome(Parser(features).parse_general, record))


@settings(max_examples=100)
@given(cases(variable=False))
def test_batches_are_parsed_as_their_records_are(case):
    records, features = case
    parser = Parser(features)
    for batch in (records, records * 2, records[::-1]):
        singles = [outcome(parser.parse_general, record) for record in batch]
        parsed = outcome(parser.parse_batch, batch)
        if isinstance(parsed, str):
            assert any(parsed == f"record {row} of the batch: {single}" for row, single in enumerate(singles))
        else:
            expected = {name: np.stack([single[name] for single in singles]) for name in features}
            assert equal(parsed, expected)


def test_many_lengths_and_orders_are_parsed():
    requested = {name: FixedLenFeature((), "string") for name in "abcde"}
    parser = Parser(requested)
    batch = []
    for number in range(3000):
        content = {name: bytes([number % 256]) * (number % 7) * (name == "a") + b"\0" for name in "abcde"}
        content["rest"] = bytes(number % 2000)
        batch.append(shuffled(content, number))
    for record in batch:
        assert equal(parser.parse(record), Parser(requested).parse_general(record))
    parsed = parser.parse_batch(batch)
    assert parsed["a"].tolist() == [Parser(requested).parse_general(record)["a"].item() for record in batch]


def test_the_fast_way_is_taken():
    records = [encode_example({"image": bytes([label]) * 784, "label": label}) for label in range(10)]
    parser = Parser(IMAGE)
    for record in records[:2]:
        parser.parse(record)
    parser._find_spans = None  # the general parser would fail now
    assert [parser.parse(record)["label"].item() for record in records] == list(range(10))
    assert parser.parse_batch(records)["label"].tolist() == list(range(10))


def test_large_labels_of_a_batch_are_decoded_together():
    records = [encode_example({"x": [label, -label]}) for label in range(200, 400)]
    requested = {"x": FixedLenFeature((2,), "int64")}
    assert parse_example(records, requested)["x"].tolist() == [[label, -label] for label in range(200, 400)]


def test_threads_may_parse_at_once():
    records = [
        shuffled({"image": bytes([number % 256]) * (number % 40), "label": number}, number) for number in range(2000)
    ]

    def parse_all(_: int) -> list[int]:
        single = [parse_single_example(record, IMAGE)["label"].item() for record in records]
        assert parse_example(records, IMAGE)["label"].tolist() == single
        return single

    with ThreadPoolExecutor(8) as threads:
        for labels in threads.map(parse_all, range(8)):
            assert labels == list(range(2000))


def delimited(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2, len(content)]) + content


def record_of(kind: int, body: bytes) -> bytes:
    """An Example with the feature x, a list of this kind with this body, right or not."""
    return delimited(1, delimited(1, delimited(1, b"x") + delimited(2, delimited(kind, body))))


def every(alphabet: bytes, size: int) -> list[bytes]:
    return [bytes(body) for body in itertools.product(alphabet, repeat=size)]


BODIES = {
    "packed numbers": [delimited(1, run) for run in every(b"\x00\x01\x80\xff", 4)],
    "anything": every(b"\x01\x02\x08\x0a\x80", 4),
    "numbers with tags": [b"\x08" + a + b"\x08" + b for a in every(b"\x01\x80", 2) for b in every(b"\x01\x80", 2)],
}


@pytest.mark.parametrize("bodies", BODIES)
@pytest.mark.parametrize("kind", ["string", "float32", "int64"])
@pytest.mark.parametrize("num_values", [1, 2, 4])
def test_lists_of_equal_length_are_never_mistaken_for_one_another(bodies, kind, num_values):
    features = {"x": FixedLenFeature((num_values,), kind)}
    number = {"string": 1, "float32": 2, "int64": 3}[kind]
    records = [record_of(number, body) for body in BODIES[bodies]]
    expected = {record: outcome(Parser(features).parse_general, record) for record in records}
    good = [record for record in records if not isinstance(expected[record], str)]
    single, batched = Parser(features), Parser(features)
    for record in records * 2:
        assert agree(outcome(single.parse, record), expected[record])
    for record in records:
        # Between good ones, and before one: a number that is not finished must not continue in the next record.
        around = good[:1] + good[-1:]
        parsed = outcome(batched.parse_batch, [*around, record, *around])
        if isinstance(expected[record], str):
            assert parsed == f"record {len(around)} of the batch: {expected[record]}"
        else:
            stacked = np.stack([expected[each]["x"] for each in [*around, record, *around]])
            assert equal(parsed, {"x": stacked})


@pytest.mark.parametrize("bodies", BODIES)
@pytest.mark.parametrize("kind", ["string", "float32", "int64"])
def test_lists_of_any_number_and_equal_length_are_never_mistaken_for_one_another(bodies, kind):
    features = {"x": VarLenFeature(kind)}
    records = [record_of({"string": 1, "float32": 2, "int64": 3}[kind], body) for body in BODIES[bodies]]
    parser = Parser(features)
    for record in records * 2 + records[::-1]:
        assert agree(outcome(parser.parse, record), outcome(Parser(features).parse_general, record))
