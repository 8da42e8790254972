"""tutorials/load_data and guides on text: NumPy, images, text, Unicode, examples."""

from pathlib import Path

import numpy as np

import unisono.tf as tf


def test_numpy_files(tmp_path: Path) -> None:
    """np.load of an npz, from_tensor_slices, get_file of a local address"""
    np.savez(tmp_path / "m.npz", x=np.arange(6).reshape(3, 2), y=np.arange(3))
    path = tf.keras.utils.get_file("m.npz", origin=(tmp_path / "m.npz").as_uri(), cache_dir=str(tmp_path / "cache"))
    with np.load(path) as data:
        ds = tf.data.Dataset.from_tensor_slices((data["x"], data["y"]))
    assert [int(y) for _, y in ds.batch(2).unbatch()] == [0, 1, 2]


def test_image_folders(tmp_path: Path) -> None:
    """image_dataset_from_directory with class_names, encode and decode, Rescaling in a map"""
    for name, level in (("dark", 10), ("light", 200)):
        (tmp_path / name).mkdir()
        for i in range(4):
            png = tf.io.encode_png(tf.cast(tf.fill([6, 6, 3], level + i), tf.uint8))
            tf.io.write_file(str(tmp_path / name / f"{i}.png"), png)
    ds = tf.keras.utils.image_dataset_from_directory(
        str(tmp_path), validation_split=0.25, subset="training", seed=1, image_size=(6, 6), batch_size=3
    )
    assert ds.class_names == ["dark", "light"]
    rescale = tf.keras.layers.Rescaling(1.0 / 255)
    images, labels = next(iter(ds.map(lambda x, y: (rescale(x), y))))
    assert images.shape == (3, 6, 6, 3)
    assert float(tf.reduce_max(images)) <= 1.0
    for image, label in zip(images, labels, strict=True):
        assert (float(tf.reduce_mean(image)) > 0.5) == bool(label)


def test_text_folders_and_vocabularies(tmp_path: Path) -> None:
    """text_dataset_from_directory, TextVectorization in binary and int mode, lookup tables, string standardization"""
    for name, text in (("neg", "bad film"), ("pos", "good film")):
        (tmp_path / name).mkdir()
        for i in range(3):
            (tmp_path / name / f"{i}.txt").write_text(f"{text} {i}")
    raw = tf.keras.utils.text_dataset_from_directory(str(tmp_path), batch_size=6, seed=1)
    text_batch, label_batch = next(iter(raw))
    assert all((b"good" in t) == bool(label) for t, label in zip(text_batch.numpy(), label_batch.numpy(), strict=True))
    binary = tf.keras.layers.TextVectorization(max_tokens=10, output_mode="binary")
    binary.adapt(raw.map(lambda text, labels: text))
    assert binary(text_batch).shape[0] == 6
    init = tf.lookup.KeyValueTensorInitializer(keys=["good", "bad"], values=[2, 3], value_dtype=tf.int64)
    table = tf.lookup.StaticVocabularyTable(init, num_oov_buckets=1)
    assert table.lookup(tf.constant(["bad", "good"])).numpy().tolist() == [3, 2]
    hash_table = tf.lookup.StaticHashTable(init, default_value=-1)
    assert hash_table.lookup(tf.constant(["ugly"])).numpy().tolist() == [-1]


def test_unicode() -> None:
    """unicode_decode, unicode_encode, unicode_transcode, unicode_split, character lengths and substrings"""
    thanks = "Thanks 😊".encode()
    assert tf.strings.length(thanks).numpy() == 11
    assert tf.strings.length(thanks, unit="UTF8_CHAR").numpy() == 8
    assert tf.strings.substr(thanks, pos=7, len=1, unit="UTF8_CHAR").numpy() == "😊".encode()
    chars = tf.strings.unicode_decode(tf.constant("语言处理"), input_encoding="UTF-8")
    assert chars.numpy().tolist() == [ord(c) for c in "语言处理"]
    assert tf.strings.unicode_encode(chars, output_encoding="UTF-8").numpy() == "语言处理".encode()
    utf16 = tf.strings.unicode_transcode(tf.constant("语言"), input_encoding="UTF8", output_encoding="UTF-16-BE")
    assert utf16.numpy() == "语言".encode("utf-16-be")
    assert tf.strings.unicode_split(thanks, "UTF-8").shape == (8,)
    batch = tf.strings.unicode_decode(["hi", "ありがとう"], "UTF-8")
    assert batch.to_list() == [[ord(c) for c in "hi"], [ord(c) for c in "ありがとう"]]
    codes, offsets = tf.strings.unicode_decode_with_offsets("🎈b", "UTF-8")
    assert offsets.numpy().tolist() == [0, 4]
    assert len(codes) == 2


def test_examples(tmp_path: Path) -> None:
    """Features of all kinds, serialize_tensor and parse_tensor, from_generator of records, parse_example of a batch"""
    tensor = tf.io.serialize_tensor(tf.constant([[1.0, 2.0]]))
    features = {
        "flag": tf.train.Feature(int64_list=tf.train.Int64List(value=[1])),
        "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"goat"])),
        "score": tf.train.Feature(float_list=tf.train.FloatList(value=[0.9876])),
        "tensor": tf.train.Feature(bytes_list=tf.train.BytesList(value=[tensor.numpy()])),
    }
    proto = tf.train.Example(features=tf.train.Features(feature=features))
    text = proto.SerializeToString()
    again = tf.train.Example.FromString(text)
    assert again.features.feature["name"].bytes_list.value == [b"goat"]
    assert again.features.feature["flag"].WhichOneof("kind") == "int64_list"
    path = str(tmp_path / "t.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for _ in range(3):
            writer.write(text)
    description = {
        "flag": tf.io.FixedLenFeature([], tf.int64, default_value=0),
        "name": tf.io.FixedLenFeature([], tf.string, default_value=""),
        "score": tf.io.FixedLenFeature([], tf.float32, default_value=0.0),
        "tensor": tf.io.FixedLenFeature([], tf.string),
    }
    parsed = tf.data.TFRecordDataset([path]).map(lambda proto: tf.io.parse_single_example(proto, description))
    record = next(iter(parsed))
    assert record["name"].numpy() == b"goat"
    np.testing.assert_array_equal(tf.io.parse_tensor(record["tensor"], tf.float32), [[1.0, 2.0]])
    batch = next(iter(tf.data.TFRecordDataset([path]).batch(3).map(lambda p: tf.io.parse_example(p, description))))
    np.testing.assert_allclose(batch["score"], [0.9876] * 3, rtol=1e-5)
