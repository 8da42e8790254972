"""`tf.keras.utils`, `preprocessing` and `mixed_precision`."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono.tf as tf


def test_windows_over_measurements() -> None:
    data, targets = np.arange(10), np.arange(10) * 10
    dataset = tf.keras.utils.timeseries_dataset_from_array(
        data, targets, sequence_length=3, sequence_stride=2, sampling_rate=2, batch_size=2
    )
    windows, wanted = next(iter(dataset))
    assert windows.numpy().tolist() == [[0, 2, 4], [2, 4, 6]]
    assert wanted.numpy().tolist() == [0, 20]
    part = tf.keras.preprocessing.timeseries_dataset_from_array(data, None, 4, start_index=2, end_index=8)
    assert next(iter(part)).numpy().tolist() == [[2, 3, 4, 5], [3, 4, 5, 6], [4, 5, 6, 7]]
    with pytest.raises(ValueError, match="sequence_stride"):
        tf.keras.utils.timeseries_dataset_from_array(data, None, 3, sequence_stride=0)


def test_shuffled_windows_are_all_there() -> None:
    dataset = tf.keras.utils.timeseries_dataset_from_array(np.arange(6), None, 2, shuffle=True, seed=1, batch_size=5)
    assert sorted(next(iter(dataset)).numpy().tolist()) == [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]


def test_generators_of_images_are_keras_own() -> None:
    generator = tf.keras.preprocessing.image.ImageDataGenerator(rescale=0.5, horizontal_flip=False)
    batch, labels = next(generator.flow(np.full((4, 2, 2, 1), 2.0), np.arange(4), batch_size=4, shuffle=False))
    assert batch.tolist() == np.ones((4, 2, 2, 1)).tolist()
    assert labels.tolist() == [0, 1, 2, 3]


def test_text_and_sequences_are_keras_own() -> None:
    tokenizer = tf.keras.preprocessing.text.Tokenizer(num_words=10)
    tokenizer.fit_on_texts(["a b a", "c"])
    sequences = tokenizer.texts_to_sequences(["b a", "c"])
    padded = tf.keras.preprocessing.sequence.pad_sequences(sequences, maxlen=3)
    assert padded.tolist() == [[0, 2, 1], [0, 0, 3]]
    generator = tf.keras.preprocessing.sequence.TimeseriesGenerator(np.arange(5), np.arange(5), length=2, batch_size=3)
    assert generator[0][0].tolist() == [[0, 1], [1, 2], [2, 3]]


def test_small_helpers_are_keras_own() -> None:
    assert tf.keras.utils.to_categorical([1], 3).tolist() == [[0.0, 1.0, 0.0]]
    assert tf.keras.utils.Sequence is keras.utils.PyDataset
    assert tf.keras.utils.Progbar is keras.utils.Progbar
    assert tf.keras.utils.get_custom_objects() is keras.utils.get_custom_objects()


def test_old_spellings_of_mixed_precision() -> None:
    tf.keras.mixed_precision.experimental.set_policy("mixed_bfloat16")
    try:
        assert tf.keras.mixed_precision.global_policy().compute_dtype == "bfloat16"
        assert tf.keras.mixed_precision.Policy("float32").name == "float32"
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    """Text i of class c is "c i"."""
    for name in ("bad", "good"):
        (tmp_path / name / "more").mkdir(parents=True)
        for number in range(5):
            (tmp_path / name / f"{number}.txt").write_text(f"{name} {number}")
        (tmp_path / name / "more" / "5.TXT").write_text(f"{name} 5")
        (tmp_path / name / "notes.md").write_text("no text of the dataset")
    return tmp_path


def test_texts_of_a_folder_are_a_dataset_of_tf_data(reviews: Path) -> None:
    dataset = tf.keras.utils.text_dataset_from_directory(reviews, batch_size=4, shuffle=False, verbose=False)
    assert dataset.class_names == ["bad", "good"]
    assert [Path(path).name for path in dataset.file_paths[:6]] == [
        "0.txt",
        "1.txt",
        "2.txt",
        "3.txt",
        "4.txt",
        "5.TXT",
    ]
    texts, labels = next(iter(dataset))
    assert texts.numpy().tolist() == [b"bad 0", b"bad 1", b"bad 2", b"bad 3"]
    assert (labels.numpy().tolist(), labels.dtype) == ([0] * 4, tf.int32)
    assert dataset.element_spec[0] == tf.TensorSpec((None,), tf.string)
    upper = dataset.map(lambda x, y: (tf.strings.upper(x), y)).unbatch()
    assert [x.numpy() for x, _ in upper][-1] == b"GOOD 5"
    assert keras.utils.text_dataset_from_directory is tf.keras.preprocessing.text_dataset_from_directory


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"label_mode": "int"}, 1),
        ({"label_mode": "binary"}, [1.0]),
        ({"label_mode": "categorical"}, [0.0, 1.0]),
        ({"labels": list(range(12))}, 11),
        ({"class_names": ["good", "bad"]}, 0),
    ],
)
def test_labels_of_texts(reviews: Path, options: dict[str, Any], wanted: Any) -> None:
    dataset = tf.keras.utils.text_dataset_from_directory(
        reviews, batch_size=None, shuffle=False, verbose=False, max_length=6, **options
    )
    found = {text.numpy(): label.numpy().tolist() for text, label in dataset}
    assert (len(found), found[b"good 5"]) == (12, wanted)


def test_texts_without_labels(reviews: Path) -> None:
    for options in ({"labels": None}, {"label_mode": None}):
        dataset = tf.keras.utils.text_dataset_from_directory(
            reviews, batch_size=None, verbose=False, max_length=3, **options
        )
        assert sorted({text.numpy() for text in dataset}) == [b"bad", b"goo"]
        assert dataset.class_names is None


def test_a_split_is_that_of_keras(reviews: Path) -> None:
    options = {"validation_split": 0.25, "seed": 7, "verbose": False, "batch_size": None}
    training = tf.keras.utils.text_dataset_from_directory(reviews, subset="training", **options)
    validation = tf.keras.utils.text_dataset_from_directory(reviews, subset="validation", **options)
    both = tf.keras.utils.text_dataset_from_directory(reviews, subset="both", **options)
    # What keras.utils.text_dataset_from_directory of Keras 3.15.1 picks for this seed.
    names = [str(Path(path).relative_to(reviews)) for path in validation.file_paths]
    assert names == ["good/0.txt", "good/3.txt", "bad/4.txt"]
    assert [each.file_paths for each in both] == [training.file_paths, validation.file_paths]
    assert len({*training.file_paths, *validation.file_paths}) == 12
    assert {x.numpy() for x, _ in validation}.isdisjoint({x.numpy() for x, _ in training})


def test_images_of_a_folder_are_a_dataset_of_tf_data(tmp_path: Path) -> None:
    for name in ("ant", "bee"):
        (tmp_path / name).mkdir()
        tf.io.write_file(str(tmp_path / name / "1.png"), tf.io.encode_png(tf.zeros((4, 4, 3), tf.uint8)))
    dataset = tf.keras.preprocessing.image_dataset_from_directory(tmp_path, image_size=(2, 2), verbose=False)
    assert (dataset.class_names, len(dataset.file_paths)) == (["ant", "bee"], 2)
    sizes = dataset.map(lambda x, y: tf.cast(x, tf.float32) * 0 + x.get_shape()[1])
    assert next(iter(sizes)).numpy().max() == 2
    pair = tf.keras.utils.image_dataset_from_directory(
        tmp_path, image_size=(2, 2), validation_split=0.5, subset="both", seed=1, verbose=False
    )
    assert [each.class_names for each in pair] == [["ant", "bee"]] * 2


def test_windows_have_the_methods_of_tensors() -> None:
    windows = keras.utils.timeseries_dataset_from_array(np.arange(6.0), None, 3)
    assert next(iter(windows.map(lambda x: x * x.get_shape()[1])))[0].numpy().tolist() == [0.0, 3.0, 6.0]


def test_other_formats_are_an_error(reviews: Path) -> None:
    with pytest.raises(ValueError, match="format is 'grain'"):
        tf.keras.utils.text_dataset_from_directory(reviews, format="grain")
    with pytest.raises(ValueError, match="max_length is 0"):
        tf.keras.utils.text_dataset_from_directory(reviews, max_length=0)
