"""`tf.keras.utils`, `preprocessing` and `mixed_precision`."""

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
