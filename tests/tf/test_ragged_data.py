"""Ragged and sparse tensors as elements of datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unisono.tf as tf

FEATURES = {"colors": [["red", "blue"], ["orange"], ["black"]], "lengths": [[7], [], [1, 3]]}


def features() -> Any:
    return tf.data.Dataset.from_tensor_slices({name: tf.ragged.constant(rows) for name, rows in FEATURES.items()})


def test_rows_of_ragged_tensors_are_elements_and_batches_are_ragged_again() -> None:
    dataset = features()
    assert dataset.element_spec["lengths"] == tf.RaggedTensorSpec([None], tf.int32, ragged_rank=0)
    first, *_ = dataset
    assert isinstance(first["colors"], tf.Tensor)
    assert first["colors"].numpy().tolist() == [b"red", b"blue"]
    batched = dataset.batch(2)
    assert batched.element_spec["lengths"] == tf.RaggedTensorSpec([None, None], tf.int32)
    assert [batch["lengths"].to_list() for batch in batched] == [[[7], []], [[1, 3]]]
    assert [row["lengths"].numpy().tolist() for row in batched.unbatch()] == FEATURES["lengths"]
    assert [batch["lengths"].to_list() for batch in batched.rebatch(3)] == [FEATURES["lengths"]]
    shuffled = [batch["lengths"].to_list() for batch in dataset.shuffle(3, seed=1).repeat(2).batch(6).cache()]
    assert sorted(shuffled[0]) == sorted(FEATURES["lengths"] * 2)


def test_maps_take_and_give_ragged_tensors() -> None:
    def transform(row: Any) -> Any:
        return {"total": tf.reduce_sum(row["lengths"]), "ranges": tf.ragged.range(row["lengths"])}

    dataset = features().map(transform)
    assert dataset.element_spec == {
        "total": tf.TensorSpec((), tf.int32),
        "ranges": tf.RaggedTensorSpec([None, None], tf.int32),
    }
    (batch,) = dataset.batch(3)
    assert batch["total"].numpy().tolist() == [7, 0, 4]
    assert batch["ranges"].to_list() == [[[0, 1, 2, 3, 4, 5, 6]], [], [[0], [0, 1, 2]]]
    words = tf.data.Dataset.from_tensor_slices(["a b", "c"]).batch(2).map(tf.strings.split)
    assert words.element_spec == tf.RaggedTensorSpec([None, None], tf.string)
    assert next(iter(words)).to_list() == [[b"a", b"b"], [b"c"]]
    padded = features().batch(3).map(lambda row: row["lengths"].to_tensor(-1))
    assert next(iter(padded)).numpy().tolist() == [[7, -1], [-1, -1], [1, 3]]
    assert [int(tf.size(x)) for x in features().map(lambda row: row["lengths"]).filter(lambda x: tf.size(x) > 0)] == [
        1,
        2,
    ]


def test_open_sizes_of_ragged_batches_stay_open_behind_maps() -> None:
    totals = features().map(lambda row: row["lengths"]).ragged_batch(2).map(lambda x: tf.reduce_sum(x, axis=1))
    assert totals.element_spec == tf.TensorSpec([None], tf.int32)
    assert [total.numpy().tolist() for total in totals] == [[7, 0], [4]]


def test_replicas_get_rows_of_ragged_and_sparse_batches_and_compute_with_dense_ones() -> None:
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    rows = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3], [4], []])).batch(4)
    (batch,) = strategy.experimental_distribute_dataset(rows)
    local = strategy.experimental_local_results(batch)
    assert [each.to_list() for each in local] == [[[1], [2, 3]], [[4], []]]
    with pytest.raises(TypeError, match=r"The replicas have RaggedTensors.*\n?.*to_tensor"):
        strategy.run(lambda x: tf.reduce_sum(x, axis=1), args=(batch,))
    padded = rows.map(lambda x: x.to_tensor(shape=[None, 2]))
    (batch,) = strategy.experimental_distribute_dataset(padded)
    sums = strategy.run(lambda x: tf.reduce_sum(x, axis=1), args=(batch,))
    assert strategy.gather(sums, axis=0).numpy().tolist() == [1, 5, 4, 0]
    sparse = tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense(np.eye(2))).batch(2)
    (batch,) = strategy.experimental_distribute_dataset(sparse)
    assert [each.shape for each in strategy.experimental_local_results(batch)] == [(1, 2), (1, 2)]


def test_ragged_and_sparse_elements_are_kept_in_files(tmp_path: Path) -> None:
    batches = features().batch(2).map(lambda row: (row["colors"], row["lengths"].to_sparse()))
    features().batch(3).save(str(tmp_path / "saved"))
    (loaded,) = tf.data.Dataset.load(str(tmp_path / "saved"))
    assert {name: rows.to_list() for name, rows in loaded.items()}["lengths"] == FEATURES["lengths"]
    assert [row["lengths"].numpy().tolist() for row in features().cache(str(tmp_path / "rows"))] == FEATURES["lengths"]
    cached = batches.cache(str(tmp_path / "cache"))
    for _ in range(2):
        colors, lengths = next(iter(cached.batch(2)))
        assert [row.to_list() for row in colors] == [[[b"red", b"blue"], [b"orange"]], [[b"black"]]]
        assert lengths.shape == (2, 2, 2)


def test_dense_elements_of_different_lengths_are_batched() -> None:
    rows = tf.data.Dataset.from_tensor_slices([1, 3, 2]).map(tf.range)
    assert [batch.to_list() for batch in rows.ragged_batch(2)] == [[[0], [0, 1, 2]], [[0, 1]]]
    old = rows.apply(tf.data.experimental.dense_to_ragged_batch(batch_size=2, drop_remainder=True))
    assert old.element_spec == tf.RaggedTensorSpec([2, None], tf.int32)
    assert [batch.to_list() for batch in old] == [[[0], [0, 1, 2]]]
    sparse = rows.apply(tf.data.experimental.dense_to_sparse_batch(3, [4]))
    assert sparse.element_spec == tf.SparseTensorSpec([None, 4], tf.int32)
    assert tf.sparse.to_dense(next(iter(sparse)), -1).numpy()[1].tolist() == [0, 1, 2, -1]
    with pytest.raises(ValueError, match="row_shape"):
        list(rows.sparse_batch(3, [2]))


def test_sparse_tensors_are_elements() -> None:
    tensor = tf.sparse.from_dense(np.array([[0, 1, 0], [0, 0, 0], [2, 0, 3]]))
    dataset = tf.data.Dataset.from_tensor_slices((tensor, [0, 1, 2]))
    assert dataset.element_spec[0] == tf.SparseTensorSpec([3], tf.int64)
    assert [row.values.numpy().tolist() for row, _ in dataset] == [[1], [], [2, 3]]
    (batch,) = dataset.map(lambda x, y: x * 2).batch(3)
    assert tf.sparse.to_dense(batch).numpy().tolist() == [[0, 2, 0], [0, 0, 0], [4, 0, 6]]
    dense = dataset.batch(2).map(lambda x, y: tf.sparse.to_dense(x))
    assert [each.shape for each in dense] == [(2, 3), (1, 3)]
    with pytest.raises(TypeError, match=r"tf\.sparse\.to_dense"):
        list(dataset.padded_batch(2))


def test_generators_yield_ragged_tensors() -> None:
    def generate() -> Any:
        yield tf.ragged.constant([[1], [2, 3]])
        yield tf.ragged.constant([[4, 5, 6]])

    signature = tf.RaggedTensorSpec([None, None], tf.int32)
    dataset = tf.data.Dataset.from_generator(generate, output_signature=signature)
    assert dataset.element_spec == signature
    assert [element.to_list() for element in dataset] == [[[1], [2, 3]], [[4, 5, 6]]]
    assert next(iter(dataset.batch(2))).to_list() == [[[1], [2, 3]], [[4, 5, 6]]]
    wrong = tf.data.Dataset.from_generator(generate, output_signature=tf.RaggedTensorSpec([None, None], tf.string))
    with pytest.raises(TypeError, match=r"element 0 is .* Expected a ragged tensor that fits"):
        list(wrong)
    assert [len(each) for each in tf.data.Dataset.from_tensors(tf.ragged.constant([[1], [2, 3]]))] == [2]
    whole = list(tf.data.Dataset.from_tensors(tf.ragged.constant([[1], [2]])).as_numpy_iterator())
    assert whole[0].tolist() == [[1], [2]]
