"""`tf.io`: records, examples, images and bytes."""

import zlib
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import unisono.tf as tf
from unisono.io import encode_example

# What TensorFlow 2.21 gave for tf.io.serialize_tensor.
SERIALIZED = [
    (np.float32(1.5), b'\x08\x01\x12\x00"\x04\x00\x00\xc0?'),
    (
        np.array([[1], [2]], np.int64),
        b'\x08\t\x12\x08\x12\x02\x08\x02\x12\x02\x08\x01"\x10\x01' + b"\0" * 7 + b"\2" + b"\0" * 7,
    ),
    (np.array([True, False]), b'\x08\n\x12\x04\x12\x02\x08\x02"\x02\x01\x00'),
    (np.array(["a", b"\xff"], object), b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x01\xff"),
    (np.ones(3, np.float16), b'\x08\x13\x12\x04\x12\x02\x08\x03"\x06\x00<\x00<\x00<'),
    (np.zeros((0, 2), np.uint8), b"\x08\x04\x12\x06\x12\x00\x12\x02\x08\x02"),
    (np.array([1 + 2j], np.complex64), b'\x08\x08\x12\x04\x12\x02\x08\x01"\x08\x00\x00\x80?\x00\x00\x00@'),
    (np.arange(3, dtype=np.int8), b'\x08\x06\x12\x04\x12\x02\x08\x03"\x03\x00\x01\x02'),
    (
        np.arange(2, dtype=np.float64),
        b'\x08\x02\x12\x04\x12\x02\x08\x02"\x10' + b"\0" * 8 + b"\x00\x00\x00\x00\x00\x00\xf0?",
    ),
    (np.array([7], np.uint32), b'\x08\x16\x12\x04\x12\x02\x08\x01"\x04\x07\x00\x00\x00'),
    (np.array([1, 2], ml_dtypes.bfloat16), b'\x08\x0e\x12\x04\x12\x02\x08\x02"\x04\x80?\x00@'),
]


@pytest.mark.parametrize(("tensor", "expected"), SERIALIZED, ids=lambda value: getattr(value, "dtype", None))
def test_tensors_are_serialized_as_tensorflow_does_it(tensor: Any, expected: bytes) -> None:
    assert tf.io.serialize_tensor(tensor).numpy() == expected
    back = tf.io.parse_tensor(expected, tensor.dtype)
    assert back.dtype == tensor.dtype
    assert back.shape == tensor.shape
    texts = [item.encode() if isinstance(item, str) else item for item in np.ravel(tensor).tolist()]
    assert np.ravel(np.asarray(back)).tolist() == texts


def test_text_and_python_numbers_are_serialized() -> None:
    assert tf.io.serialize_tensor("hi").numpy() == b"\x08\x07\x12\x00B\x02hi"
    assert tf.io.parse_tensor(tf.io.serialize_tensor([[1.0, 2.0]]), tf.float32).numpy().tolist() == [[1.0, 2.0]]
    assert tf.io.parse_tensor(tf.io.serialize_tensor(tf.constant([3, 4])), tf.int32).numpy().tolist() == [3, 4]


def test_values_that_stand_in_lists_of_a_tensor_proto_are_read() -> None:
    floats = b"\x08\x01\x12\x04\x12\x02\x08\x03\x2a\x04\x00\x00\xc0?"  # one float_val for three numbers
    assert tf.io.parse_tensor(floats, tf.float32).numpy().tolist() == [1.5, 1.5, 1.5]
    ints = b"\x08\x03\x12\x04\x12\x02\x08\x02\x3a\x02\x07\x08"
    assert tf.io.parse_tensor(ints, tf.int32).numpy().tolist() == [7, 8]


@pytest.mark.parametrize(
    ("data", "dtype", "reason"),
    [
        (b"xx", tf.float32, "parse_tensor|byte"),
        (tf.io.serialize_tensor([1.0]).numpy(), tf.float64, "float32, not float64"),
        (tf.io.serialize_tensor([1.0, 2.0]).numpy()[:-8] + b"\0\0", tf.float32, "parse_tensor|byte"),
        (b"\x08\x63\x12\x00", tf.float32, "number 99"),
    ],
)
def test_a_damaged_tensor_is_an_error(data: bytes, dtype: Any, reason: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=reason):
        tf.io.parse_tensor(data, dtype)


def test_raw_bytes_become_numbers() -> None:
    assert tf.io.decode_raw(["abcd", "efgh"], tf.int16).numpy().tolist() == [[25185, 25699], [26213, 26727]]
    assert tf.io.decode_raw(b"abcd", tf.int16, little_endian=False).numpy().tolist() == [24930, 25444]
    assert tf.io.decode_raw(b"a\0\0\0", tf.uint8).numpy().tolist() == [97, 0, 0, 0]
    assert tf.io.decode_raw([b"a", b"bcd"], tf.uint8, fixed_length=2).numpy().tolist() == [[97, 0], [98, 99]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="3 bytes"):
        tf.io.decode_raw(b"abc", tf.int16)


def test_lines_of_commas_become_columns() -> None:
    numbers, floats, words = tf.io.decode_csv(["1,2.5,x", "3,,"], [[0], [1.0], ["d"]])
    assert (numbers.dtype, numbers.numpy().tolist()) == (tf.int32, [1, 3])
    assert (floats.dtype, floats.numpy().tolist()) == (tf.float32, [2.5, 1.0])
    assert words.numpy().tolist() == [b"x", b"d"]
    one, quoted = tf.io.decode_csv('1;"a;b"', [tf.constant([], tf.int32), ""], field_delim=";")
    assert (one.numpy(), quoted.numpy()) == (1, b"a;b")
    assert [c.numpy() for c in tf.io.decode_csv("1,2,3", [[0], [0]], select_cols=[0, 2])] == [1, 3]


@pytest.mark.parametrize(
    ("line", "defaults", "reason"),
    [
        ("x", [[0]], "not a valid int32: 'x'"),
        (",2", [tf.constant([], tf.int32), [0]], "required, but missing"),
        ("1,2", [[0]], "expected 1 fields, got 2"),
    ],
)
def test_a_line_that_does_not_fit_is_an_error(line: str, defaults: Any, reason: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=reason):
        tf.io.decode_csv(line, defaults)


def test_base64_is_that_of_web_addresses() -> None:
    assert tf.io.encode_base64(["hello", "\xff\xfe>"]).numpy().tolist() == [b"aGVsbG8", b"w7_Dvj4"]
    assert tf.io.encode_base64("hello", pad=True).numpy() == b"aGVsbG8="
    assert tf.io.decode_base64(tf.io.encode_base64(b"\x00\xff\x00")).numpy() == b"\x00\xff\x00"
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_base64("a!")


def test_compressed_bytes_are_read() -> None:
    assert tf.io.decode_compressed([zlib.compress(b"abc")], "ZLIB").numpy().tolist() == [b"abc"]
    assert tf.io.decode_compressed(b"abc").numpy() == b"abc"
    with pytest.raises(tf.errors.DataLossError):
        tf.io.decode_compressed(b"abc", "GZIP")


def test_files_are_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "x"
    tf.io.write_file(str(path), b"a\0")
    assert tf.io.read_file(str(path)).numpy() == b"a\0"
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        tf.io.read_file("nowhere")
    with pytest.raises(NotImplementedError, match="gs://"):
        tf.io.read_file("gs://bucket/x")


def test_images_are_encoded_and_decoded() -> None:
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    png, jpeg = tf.io.encode_png(image), tf.io.encode_jpeg(np.full((8, 8, 3), 100, np.uint8), quality=90)
    assert np.array_equal(tf.io.decode_png(png), image)
    assert tf.io.decode_png(png, channels=1).shape == (2, 4, 1)
    assert np.array_equal(tf.io.decode_image(png, channels=3), image)
    assert np.allclose(tf.io.decode_image(png, dtype=tf.float32), image / 255)
    assert np.array_equal(tf.io.decode_png(png, dtype=tf.uint16), image.astype("uint16") * 257)
    assert np.abs(np.asarray(tf.io.decode_jpeg(jpeg)).astype(int) - 100).max() <= 2
    assert tf.io.decode_and_crop_jpeg(jpeg, [2, 1, 3, 4], channels=1).shape == (3, 4, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="crop_window"):
        tf.io.decode_and_crop_jpeg(jpeg, [6, 0, 3, 4])
    assert tf.io.extract_jpeg_shape(jpeg).numpy().tolist() == [8, 8, 3]
    assert tf.io.is_jpeg(jpeg)
    assert not tf.io.is_jpeg(png)
    bmp = b"BM:\0\0\0\0\0\0\0006\0\0\0(\0\0\0\1\0\0\0\1\0\0\0\1\0\x18\0" + b"\0" * 24 + b"\1\2\3\0"
    assert tf.io.decode_bmp(bmp).numpy().tolist() == [[[3, 2, 1]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not an image"):
        tf.io.decode_image(b"no image")


@pytest.mark.parametrize("channels", [1, 3, 4])  # Pillow reads two channels as four
def test_pngs_of_16_bits_are_encoded(channels: int) -> None:
    image = (np.arange(8 * channels).reshape(2, 4, channels) * 257 + 5).astype(np.uint16)
    assert np.array_equal(tf.io.decode_png(tf.io.encode_png(image)), image >> 8)


def test_grey_pngs_of_16_bits_keep_all_of_them() -> None:
    image = (np.arange(16).reshape(4, 4, 1) * 1000).astype(np.uint16)
    png = tf.io.encode_png(image)
    assert np.array_equal(tf.io.decode_png(png, dtype=tf.uint16), image)
    assert np.array_equal(tf.io.decode_png(png, channels=3, dtype=tf.uint16), np.repeat(image, 3, 2))
    assert tf.io.decode_png(png, channels=4, dtype=tf.uint16).numpy()[0, 0].tolist() == [0, 0, 0, 65535]
    assert np.allclose(tf.io.decode_image(png, dtype=tf.float32), image / np.float32(65535))


def test_color_of_16_bits_is_an_error_and_not_cut_to_8() -> None:
    png = tf.io.encode_png(np.full((2, 2, 3), 1000, np.uint16))
    for dtype in (tf.uint16, tf.float32):
        with pytest.raises(tf.errors.InvalidArgumentError, match="16 bits per channel in color"):
            tf.io.decode_png(png, dtype=dtype)
    with pytest.raises(tf.errors.InvalidArgumentError, match="cut off"):
        tf.io.decode_png(tf.io.encode_png(np.full((2, 2, 1), 1000, np.uint16)).numpy()[:40], dtype=tf.uint16)


def test_a_crop_window_outside_is_an_error_in_tf_image_too() -> None:
    jpeg = tf.io.encode_jpeg(np.full((8, 8, 3), 100, np.uint8))
    with pytest.raises(tf.errors.InvalidArgumentError, match="crop_window"):
        tf.image.decode_and_crop_jpeg(jpeg, [6, 0, 3, 4])


def test_examples_are_parsed_in_the_map_of_a_dataset(tmp_path: Path) -> None:
    path = str(tmp_path / "x.tfrecord")
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(compression_type="GZIP", compression_level=9)) as writer:
        for label in range(4):
            pixels = np.full((2, 2, 3), label, np.uint8)
            writer.write(encode_example({"image": tf.io.encode_png(pixels).numpy(), "label": label}))
    features = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
        "weight": tf.io.FixedLenFeature([2], tf.float32, default_value=[1.0, 2.0]),
    }

    def parse(record: Any) -> Any:
        parsed = tf.io.parse_single_example(record, features)
        return tf.io.decode_png(parsed["image"]), parsed["label"], parsed["weight"]

    images, labels, weights = next(iter(tf.data.TFRecordDataset(path, "GZIP").map(parse).batch(4)))
    assert labels.numpy().tolist() == [0, 1, 2, 3]
    assert images.shape == (4, 2, 2, 3)
    assert images.numpy()[:, 0, 0, 0].tolist() == [0, 1, 2, 3]
    assert weights.numpy().tolist() == [[1.0, 2.0]] * 4


def test_files_are_read_in_the_map_of_a_dataset(tmp_path: Path) -> None:
    for shade in range(3):
        tf.io.write_file(f"{tmp_path}/{shade}.png", tf.io.encode_png(np.full((2, 2, 1), shade, np.uint8)))
    names = tf.data.Dataset.from_tensor_slices(tf.io.gfile.glob(f"{tmp_path}/*.png"))
    images = names.map(lambda name: tf.io.decode_png(tf.io.read_file(name)))
    assert [int(image.numpy().mean()) for image in images] == [0, 1, 2]


def test_a_batch_of_examples_is_parsed_and_filled_up() -> None:
    batch = [encode_example({"v": list(range(n)), "s": [1.0] * (2 * n), "w": ["x"] * n, "k": n}) for n in (1, 3)]
    parsed = tf.io.parse_example(
        batch,
        {
            "v": tf.io.VarLenFeature(tf.int64),
            "s": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True, default_value=-1.0),
            "w": tf.io.VarLenFeature(tf.string),
            "k": tf.io.FixedLenFeature((), tf.int64),
        },
    )
    assert tf.sparse.to_dense(parsed["v"], -1).numpy().tolist() == [[0, -1, -1], [0, 1, 2]]
    assert parsed["s"].numpy().tolist() == [[[1, 1], [-1, -1], [-1, -1]], [[1, 1]] * 3]
    assert tf.sparse.to_dense(parsed["w"]).numpy().tolist() == [[b"x", b"", b""], [b"x"] * 3]
    assert parsed["k"].numpy().tolist() == [1, 3]
    one = tf.io.parse_single_example(
        batch[1], {"s": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True)}
    )
    assert one["s"].shape == (3, 2)


def test_an_example_that_does_not_fit_is_an_error() -> None:
    record = encode_example({"label": 1})
    with pytest.raises(tf.errors.InvalidArgumentError, match="label"):
        tf.io.parse_single_example(record, {"label": tf.io.FixedLenFeature([], tf.float32)})
    with pytest.raises(ValueError, match="allow_missing is False"):
        tf.io.parse_example([record], {"label": tf.io.FixedLenSequenceFeature([], tf.int64)})
    with pytest.raises(tf.errors.InvalidArgumentError, match="absent"):
        tf.io.parse_example([record], {"absent": tf.io.FixedLenFeature([], tf.int64)})


def test_an_address_that_is_not_local_cannot_be_written() -> None:
    with pytest.raises(NotImplementedError, match="gs://"):
        tf.io.TFRecordWriter("gs://bucket/x.tfrecord")


def test_missing_names_raise_with_advice() -> None:
    with pytest.raises(AttributeError, match=r"tf\.io\.decode_proto"):
        tf.io.decode_proto  # noqa: B018


def test_features_of_any_length_are_sparse_or_ragged() -> None:
    ints = tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 4]))
    record = tf.train.Example(features=tf.train.Features(feature={"v": ints})).SerializeToString()
    features = {"v": tf.io.VarLenFeature(tf.int64)}
    parsed = tf.io.parse_single_example(record, features)["v"]
    assert isinstance(parsed, tf.SparseTensor)
    assert tf.sparse.to_dense(parsed, default_value=-1).numpy().tolist() == [3, 4]
    empty = tf.train.Example(features=tf.train.Features(feature={})).SerializeToString()
    batch = tf.io.parse_example([record, empty], features)["v"]
    assert tf.sparse.to_dense(batch, default_value=-1).numpy().tolist() == [[3, 4], [-1, -1]]
    ragged = {"r": tf.io.RaggedFeature(tf.int64, value_key="v"), **features}
    assert tf.io.parse_example([record, empty], ragged)["r"].to_list() == [[3, 4], []]
    assert tf.io.parse_single_example(record, ragged)["r"].numpy().tolist() == [3, 4]


def test_ragged_features_may_have_partitions() -> None:
    Feature = tf.io.RaggedFeature
    records = [
        encode_example({"v": [1, 2, 3], "splits": [0, 1, 3], "lengths": [1, 2], "ids": [0, 1, 1]}),
        encode_example({"v": [4], "splits": [0, 0, 1], "lengths": [0, 1], "ids": [1]}),
    ]
    found = tf.io.parse_example(
        records,
        {
            "a": Feature(tf.int64, value_key="v", partitions=[Feature.RowSplits("splits")]),
            "b": Feature(tf.int64, value_key="v", partitions=(Feature.RowLengths("lengths"),)),
            "c": Feature(tf.int64, value_key="v", partitions=[Feature.ValueRowIds("ids")]),
            "d": Feature(tf.int64, value_key="v", partitions=[Feature.UniformRowLength(1)]),
        },
    )
    for name in "abc":
        assert found[name].to_list() == [[[1], [2, 3]], [[], [4]]]
    assert found["d"].to_list() == [[[1], [2], [3]], [[4]]]
    with pytest.raises(TypeError, match="RowSplits"):
        Feature(tf.int64, partitions=["splits"])
