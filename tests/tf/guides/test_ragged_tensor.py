"""guide/ragged_tensor: Ragged tensors."""

import numpy as np
import pytest

import unisono.tf as tf

DIGITS = [[3, 1, 4, 1], [], [5, 9, 2], [6], []]


def test_what_can_be_done() -> None:
    """reduce_mean, concat, tile, strings.substr, map_fn, indexing, operators, map_flat_values, to_list, numpy"""
    digits = tf.ragged.constant(DIGITS)
    words = tf.ragged.constant([["So", "long"], ["thanks", "for", "all", "the", "fish"]])
    np.testing.assert_allclose(tf.reduce_mean(digits, axis=1), [2.25, np.nan, 16 / 3, 6.0, np.nan])
    assert tf.concat([digits, [[5, 3]]], axis=0).to_list() == [*DIGITS, [5, 3]]
    assert tf.tile(digits, [1, 2]).to_list() == [row * 2 for row in DIGITS]
    assert tf.strings.substr(words, 0, 2).to_list() == [[b"So", b"lo"], [b"th", b"fo", b"al", b"th", b"fi"]]
    assert tf.map_fn(tf.math.square, digits).to_list() == [[x * x for x in row] for row in DIGITS]
    assert digits[0].numpy().tolist() == [3, 1, 4, 1]
    assert digits[:, :2].to_list() == [row[:2] for row in DIGITS]
    assert digits[:, -2:].to_list() == [row[-2:] for row in DIGITS]
    assert (digits + 3).to_list() == [[x + 3 for x in row] for row in DIGITS]
    assert (digits + tf.ragged.constant([[1, 2, 3, 4], [], [5, 6, 7], [8], []])).to_list()[2] == [10, 15, 9]
    times = tf.ragged.map_flat_values(lambda x: x * 2 + 1, digits)
    assert times.to_list() == [[2 * x + 1 for x in row] for row in DIGITS]
    assert digits.numpy()[0].tolist() == [3, 1, 4, 1]


def test_construction() -> None:
    """from_value_rowids, from_row_lengths, from_row_splits, stack of ragged ones; values, row_splits, shape"""
    values = [3, 1, 4, 1, 5, 9, 2, 6]
    expected = [[3, 1, 4, 1], [], [5, 9, 2], [6]]
    assert tf.RaggedTensor.from_value_rowids(values=values, value_rowids=[0, 0, 0, 0, 2, 2, 2, 3]).to_list() == expected
    assert tf.RaggedTensor.from_row_lengths(values=values, row_lengths=[4, 0, 3, 1]).to_list() == expected
    rt = tf.RaggedTensor.from_row_splits(values=values, row_splits=[0, 4, 4, 7, 8])
    assert rt.to_list() == expected
    np.testing.assert_array_equal(rt.values, values)
    np.testing.assert_array_equal(rt.row_splits, [0, 4, 4, 7, 8])
    assert rt.shape.as_list() == [4, None]
    assert rt.row_lengths().numpy().tolist() == [4, 0, 3, 1]
    with pytest.raises(ValueError):  # noqa: PT011
        tf.ragged.constant(["A", ["B", "C"]])


def test_nested_and_uniform_dimensions() -> None:
    """ragged_rank, bounding_shape, flat_values, two ragged axes, uniform inner dimensions, from_uniform_row_length"""
    deep = tf.RaggedTensor.from_row_splits(
        values=tf.RaggedTensor.from_row_splits(values=[10, 11, 12, 13, 14, 15], row_splits=[0, 3, 3, 5, 6]),
        row_splits=[0, 1, 1, 4],
    )
    assert deep.to_list() == [[[10, 11, 12]], [], [[], [13, 14], [15]]]
    assert deep.ragged_rank == 2
    assert deep.bounding_shape().numpy().tolist() == [3, 3, 3]
    assert deep.flat_values.numpy().tolist() == [10, 11, 12, 13, 14, 15]
    pairs = tf.RaggedTensor.from_row_splits(values=[[1, 3], [0, 0], [1, 3]], row_splits=[0, 2, 3])
    assert pairs.shape.as_list() == [2, None, 2]
    uniform = tf.RaggedTensor.from_uniform_row_length(
        tf.RaggedTensor.from_row_splits(values=[10, 11, 12, 13], row_splits=[0, 1, 3, 3, 4]), uniform_row_length=2
    )
    assert uniform.shape.as_list() == [2, 2, None]


def test_conversions() -> None:
    """to_tensor with a default and a shape, from_tensor with padding, to_sparse, from_sparse"""
    ragged = tf.ragged.constant([["Hi"], ["Welcome", "to", "the", "fair"], ["Have", "fun"]])
    dense = ragged.to_tensor(default_value="", shape=[None, 10])
    assert dense.shape == (3, 10)
    np.testing.assert_array_equal(tf.ragged.constant(DIGITS).to_tensor()[2], [5, 9, 2, 0])
    back = tf.RaggedTensor.from_tensor([[1, 3, -1, -1], [2, -1, -1, -1], [4, 5, 8, 9]], padding=-1)
    assert back.to_list() == [[1, 3], [2], [4, 5, 8, 9]]
    sparse = tf.ragged.constant([[1, 2], [3]]).to_sparse()
    assert sparse.indices.numpy().tolist() == [[0, 0], [0, 1], [1, 0]]
    assert tf.RaggedTensor.from_sparse(sparse).to_list() == [[1, 2], [3]]


def test_ragged_shapes() -> None:
    """tf.shape of rows; reshape, zeros, ones and fill of it; shapes of row partitions and of lengths"""
    shape = tf.shape(tf.ragged.constant([[1], [2, 3, 4], [], [5, 6]]))
    assert tf.reshape(tf.constant([["a", "b"], ["c", "d"], ["e", "f"]]), shape)[1].numpy().tolist() == [
        b"b",
        b"c",
        b"d",
    ]
    assert tf.zeros(shape).to_list() == [[0], [0, 0, 0], [], [0, 0]]
    assert tf.ones(shape).to_list() == [[1], [1, 1, 1], [], [1, 1]]
    assert tf.fill(shape, "x").to_list() == [[b"x"], [b"x"] * 3, [], [b"x"] * 2]
    assert int(shape[0]) == 4
    with pytest.raises(ValueError, match="ragged"):
        shape[1]
    made = tf.experimental.DynamicRaggedShape(
        row_partitions=[tf.experimental.RowPartition.from_row_lengths([5, 3, 2])], inner_shape=[10, 8]
    )
    assert repr(made) == "<DynamicRaggedShape lengths=[3, (5, 3, 2), 8] num_row_partitions=1>"
    assert tf.experimental.DynamicRaggedShape.from_lengths([4, (2, 1, 0, 8), 12]).rank == 3


def test_indexing_and_comparing() -> None:
    """rows, elements, slices of the ragged axis; a single column of it is refused; broadcasting and equality"""
    queries = tf.ragged.constant([["Who", "is", "Dan", "Smith"], ["Pause"], ["Will", "it", "rain", "later", "today"]])
    assert queries[1].numpy().tolist() == [b"Pause"]
    assert queries[1, 0].numpy() == b"Pause"
    assert queries[1:].to_list() == [[b"Pause"], [b"Will", b"it", b"rain", b"later", b"today"]]
    assert queries[:, :3].to_list()[0] == [b"Who", b"is", b"Dan"]
    with pytest.raises(ValueError):  # noqa: PT011
        queries[:, 3]
    x = tf.ragged.constant([[1, 2], [3]])
    y = tf.constant([[10], [20]])
    assert (x + y).to_list() == [[11, 12], [23]]
    assert (x == tf.ragged.constant([[1, 1], [3]])).to_list() == [[True, False], [True]]


def test_reductions_and_gathers() -> None:
    """reduce_sum over each axis, gather, boolean_mask, ragged.range, ragged.stack, row ids"""
    rt = tf.ragged.constant([[1, 2, 3], [4], [5, 6]])
    np.testing.assert_array_equal(tf.reduce_sum(rt, axis=1), [6, 4, 11])
    np.testing.assert_array_equal(tf.reduce_sum(rt, axis=0), [10, 8, 3])
    assert tf.reduce_max(rt, axis=1).numpy().tolist() == [3, 4, 6]
    assert tf.gather(rt, [2, 0]).to_list() == [[5, 6], [1, 2, 3]]
    assert tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]).to_list() == [[1], [3, 4]]
    assert tf.ragged.range([2, 0, 3]).to_list() == [[0, 1], [], [0, 1, 2]]
    assert tf.ragged.stack([[1, 2], [3]]).to_list() == [[1, 2], [3]]
    assert rt.value_rowids().numpy().tolist() == [0, 0, 0, 1, 2, 2]


def test_keras_and_datasets() -> None:
    """ragged batches of a dataset, ragged features of examples, layers over ragged tokens"""
    rt = tf.ragged.constant([[3, 1, 4], [1], [5, 9]])
    ds = tf.data.Dataset.from_tensor_slices(rt)
    assert [row.numpy().tolist() for row in ds] == [[3, 1, 4], [1], [5, 9]]
    assert next(iter(ds.ragged_batch(2))).to_list() == [[3, 1, 4], [1]]
    tokens = tf.strings.split(tf.constant(["a b c", "d"]))
    hashed = tf.strings.to_hash_bucket_fast(tokens, 10)
    assert hashed.row_lengths().numpy().tolist() == [3, 1]
    embedded = tf.keras.layers.Embedding(10, 4)(hashed.to_tensor())
    assert embedded.shape == (2, 3, 4)
