"""Writes `recorded/`: files and answers of a real TensorFlow, which the tests hold ours against.

Run with TensorFlow installed (these were written by 2.21):

    python tests/data/files/record_with_tensorflow.py

Nothing here is run by the tests.
"""

import json
from pathlib import Path

import tensorflow as tf

FOLDER = Path(__file__).parent / "recorded"

EXAMPLES = [
    {"label": [7], "pixels": [0.0, 0.5, -1.25, 3.0e38], "name": [b"seven".hex()]},
    {"label": [-1], "pixels": [1.0, 2.0, 3.0, 4.0], "name": [b"nul\0\0".hex()]},
    {"label": [0, 127, 128, 16384, -(2**63), 2**63 - 1, -300], "pixels": [], "name": [b"".hex(), b"\0".hex()]},
    {"label": [], "pixels": [0.1], "name": []},
    {"größe": [1, 2, 3]},
    {},
]
PAYLOADS = [b"", b"a", b"\0" * 40, bytes(range(256)), b"last"]


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    serialized = [_example(content).SerializeToString() for content in EXAMPLES]
    for name, compression, records in (
        ("payloads.tfrecord", "", PAYLOADS),
        ("payloads.tfrecord.gz", "GZIP", PAYLOADS),
        ("payloads.tfrecord.zz", "ZLIB", PAYLOADS),
        ("examples.tfrecord", "", serialized),
        ("nothing.tfrecord", "", []),
        ("nothing.tfrecord.gz", "GZIP", []),
    ):
        with tf.io.TFRecordWriter(str(FOLDER / name), compression) as writer:
            for record in records:
                writer.write(record)
    answers = {
        "tensorflow": tf.__version__,
        "payloads": [payload.hex() for payload in PAYLOADS],
        "examples": [_as_read(record) for record in serialized],
        "parsed": _parsed(serialized[:2]),
        "refused": _refused(),
    }
    (FOLDER / "answers.json").write_text(json.dumps(answers, indent=1) + "\n")


def _example(content: dict[str, list]) -> tf.train.Example:
    features = {}
    for name, values in content.items():
        if name == "name":
            feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes.fromhex(text) for text in values]))
        elif name == "pixels":
            feature = tf.train.Feature(float_list=tf.train.FloatList(value=values))
        else:
            feature = tf.train.Feature(int64_list=tf.train.Int64List(value=values))
        features[name] = feature
    return tf.train.Example(features=tf.train.Features(feature=features))


def _as_read(record: bytes) -> dict[str, list]:
    """Name, to kind and values. JSON keeps a float64 exactly, and a float32 is one."""
    out = {}
    for name, feature in tf.train.Example.FromString(record).features.feature.items():
        kind = feature.WhichOneof("kind")
        values = list(getattr(feature, kind).value)
        out[name] = [kind, [value.hex() for value in values] if kind == "bytes_list" else values]
    return out


def _parsed(records: list[bytes]) -> dict[str, list]:
    parsed = tf.io.parse_example(
        records,
        {
            "label": tf.io.FixedLenFeature([], tf.int64),
            "pixels": tf.io.FixedLenFeature([2, 2], tf.float32),
            "name": tf.io.FixedLenFeature([], tf.string),
            "weight": tf.io.FixedLenFeature([], tf.float32, default_value=1.5),
        },
    )
    return {
        name: [value.hex() for value in array.numpy()] if name == "name" else array.numpy().tolist()
        for name, array in parsed.items()
    }


def _refused() -> dict[str, bool]:
    """Whether TensorFlow refuses to parse a single Example, by what is unusual about it."""
    fixed, var = tf.io.FixedLenFeature, tf.io.VarLenFeature
    none, empty = tf.train.Feature(), tf.train.Feature(int64_list=tf.train.Int64List(value=[]))
    one = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
    cases = {
        "missing": ({}, fixed([], tf.int64)),
        "missing, default": ({}, fixed([], tf.int64, 3)),
        "no kind": ({"x": none}, fixed([], tf.int64)),
        "no kind, default": ({"x": none}, fixed([], tf.int64, 3)),
        "empty list": ({"x": empty}, fixed([], tf.int64)),
        "empty list, default": ({"x": empty}, fixed([], tf.int64, 3)),
        "empty list, no values asked": ({"x": empty}, fixed([0], tf.int64)),
        "other kind": ({"x": one}, fixed([], tf.float32)),
        "other kind, empty": ({"x": empty}, fixed([0], tf.float32)),
        "too few": ({"x": one}, fixed([2], tf.int64)),
        "variable, missing": ({}, var(tf.int64)),
        "variable, no kind": ({"x": none}, var(tf.int64)),
        "variable, other kind": ({"x": one}, var(tf.float32)),
    }
    answers = {}
    for name, (features, asked) in cases.items():
        record = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
        try:
            tf.io.parse_single_example(record, {"x": asked})
            answers[name] = False
        except (tf.errors.InvalidArgumentError, ValueError):
            answers[name] = True
    return answers


if __name__ == "__main__":
    main()
