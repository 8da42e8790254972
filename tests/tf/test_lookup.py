"""`tf.lookup`: tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unisono.tf as tf


def test_text_is_looked_up_with_a_default() -> None:
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1)
    assert table.lookup(tf.constant([["a", "z"], ["b", "a"]])).numpy().tolist() == [[1, -1], [2, 1]]
    assert table[tf.constant("b")].numpy() == 2
    assert (int(table.size()), table.key_dtype, table.value_dtype) == (2, tf.string, tf.int32)
    assert table.default_value.numpy() == -1
    keys, values = table.export()
    assert (keys.numpy().tolist(), values.numpy().tolist()) == ([b"a", b"b"], [1, 2])


def test_values_may_be_text() -> None:
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer([0, 1], ["cat", "dog"], key_dtype=tf.int64), default_value="?"
    )
    assert table.lookup(tf.constant([1, 5])).numpy().tolist() == [b"dog", b"?"]


def test_numbers_are_looked_up_inside_of_a_compiled_function() -> None:
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.constant([30, 10, 20]), tf.constant([3.0, 1.0, 2.0])), default_value=-1.0
    )

    @tf.function
    def look(keys: Any) -> Any:
        return table.lookup(keys) * 2

    assert look(tf.constant([10, 20, 30, 0, 99])).numpy().tolist() == [2.0, 4.0, 6.0, -2.0, -2.0]
    assert table.lookup(tf.constant([10, 0])).numpy().tolist() == [1.0, -1.0]


def test_text_is_looked_up_in_a_dataset_map() -> None:
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1)
    dataset = tf.data.Dataset.from_tensor_slices(np.array([b"b", b"a", b"c"], object)).map(table.lookup)
    assert [int(element) for element in dataset] == [2, 1, -1]


def test_keys_of_another_dtype_raise() -> None:
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), default_value=-1)
    with pytest.raises(TypeError, match=r"tf\.int32, expected tf\.string"):
        table.lookup(tf.constant([1]))
    with pytest.raises(tf.errors.FailedPreconditionError, match="the key b'a'"):
        tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), -1)
    with pytest.raises(ValueError, match="as many values as keys"):
        tf.lookup.KeyValueTensorInitializer(["a", "b"], [1])


def test_a_table_is_read_from_a_file(tmp_path: Path) -> None:
    words, pairs = tmp_path / "words", tmp_path / "pairs"
    words.write_text("x\ny\nz\n")
    pairs.write_text("a\t1\nb\t2\n")
    whole, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    lines = tf.lookup.TextFileInitializer(str(words), tf.string, whole, tf.int64, number)
    assert tf.lookup.StaticHashTable(lines, -1).lookup(tf.constant(["y", "q"])).numpy().tolist() == [1, -1]
    columns = tf.lookup.TextFileInitializer(str(pairs), tf.string, 0, tf.int64, 1)
    assert tf.lookup.StaticHashTable(columns, -1).lookup(tf.constant(["b"])).numpy().tolist() == [2]
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        tf.lookup.TextFileInitializer("nowhere", tf.string, whole, tf.int64, number)
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 columns"):
        tf.lookup.TextFileInitializer(str(pairs), tf.string, 0, tf.int64, 5)


def test_unknown_words_get_tensorflows_bucket() -> None:
    initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], np.array([0, 1]))
    table = tf.lookup.StaticVocabularyTable(initializer, num_oov_buckets=3)
    # What TensorFlow 2.21 gave.
    assert table.lookup(tf.constant(["a", "b", "c", "d", "hello", "x"])).numpy().tolist() == [0, 1, 3, 4, 3, 4]
    assert table[tf.constant("zzz")].numpy() == 2
    assert int(table.size()) == 5
    numbers = tf.lookup.KeyValueTensorInitializer(np.array([10, 20]), np.array([0, 1]))
    table = tf.lookup.StaticVocabularyTable(numbers, num_oov_buckets=3)
    assert table.lookup(np.array([10, 20, 30, 31, -5, 2**40])).numpy().tolist() == [0, 1, 4, 3, 2, 4]


def test_a_mutable_table_inserts_and_removes() -> None:
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=-1)
    table.insert(tf.constant(["a", "b"]), tf.constant([1, 2]))
    table.insert(tf.constant(["b"]), tf.constant([5]))
    table.remove(tf.constant(["a", "unknown"]))
    assert table.lookup(tf.constant(["a", "b"])).numpy().tolist() == [-1, 5]
    assert int(table.size()) == 1
    keys, values = table.export()
    assert (keys.numpy().tolist(), values.numpy().tolist()) == ([b"b"], [5])


def test_values_may_be_vectors() -> None:
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, default_value=[0.0, 0.0])
    table.insert("a", [1.0, 2.0])
    assert table.lookup(tf.constant([["a", "b"]])).numpy().tolist() == [[[1.0, 2.0], [0.0, 0.0]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        table.insert("a", [1.0])


def test_a_dense_table_rejects_its_reserved_keys() -> None:
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-2)
    table.insert(tf.constant([5]), tf.constant([50]))
    assert table[tf.constant([5, 6])].numpy().tolist() == [50, -1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty_key"):
        table.insert(tf.constant([0]), tf.constant([1]))
    table.erase(tf.constant([5]))
    assert int(table.size()) == 0


def test_a_mutable_table_in_a_compiled_function_raises() -> None:
    table = tf.lookup.experimental.MutableHashTable(tf.int32, tf.int32, default_value=-1)
    with pytest.raises(TypeError, match="is stored on the host"):
        tf.function(table.lookup)(tf.constant([1]))
