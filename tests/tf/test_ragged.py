"""`tf.RaggedTensor` and `tf.ragged`: rows of different lengths, eagerly and in compiled functions."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import unisono.tf as tf

ROWS = [[3, 1, 4, 1], [], [5, 9, 2], [6], []]
NESTED = [[[1, 2], [3]], [], [[4, 5, 6]]]


def rows() -> Any:
    return tf.ragged.constant(ROWS)


def nested() -> Any:
    return tf.ragged.constant(NESTED)


def words() -> Any:
    return tf.ragged.constant([["Who", "is"], ["Pause"], ["Will", "it", "rain"]])


VALUES = [3, 1, 4, 1, 5, 9, 2, 6]
WAYS: dict[str, Callable[[], Any]] = {
    "constant": rows,
    "row_splits": lambda: tf.RaggedTensor.from_row_splits(VALUES, [0, 4, 4, 7, 8, 8]),
    "row_lengths": lambda: tf.RaggedTensor.from_row_lengths(VALUES, [4, 0, 3, 1, 0]),
    "value_rowids": lambda: tf.RaggedTensor.from_value_rowids(VALUES, [0, 0, 0, 0, 2, 2, 2, 3], nrows=5),
    "row_starts": lambda: tf.RaggedTensor.from_row_starts(VALUES, [0, 4, 4, 7, 8]),
    "row_limits": lambda: tf.RaggedTensor.from_row_limits(VALUES, [4, 4, 7, 8, 8]),
    "padding": lambda: tf.RaggedTensor.from_tensor(tf.constant(rows().to_tensor(0)), padding=0),
    "lengths": lambda: tf.RaggedTensor.from_tensor(rows().to_tensor(-1), lengths=[4, 0, 3, 1, 0]),
    "sparse": lambda: tf.RaggedTensor.from_sparse(rows().to_sparse()),
}


@pytest.mark.parametrize("way", WAYS)
def test_all_ways_to_describe_rows_give_the_same(way: str) -> None:
    made = WAYS[way]()
    assert isinstance(made, tf.RaggedTensor)
    assert made.to_list() == ROWS
    assert made.row_splits.numpy().tolist() == [0, 4, 4, 7, 8, 8]
    assert made.row_lengths().numpy().tolist() == [4, 0, 3, 1, 0]
    assert made.value_rowids().numpy().tolist() == [0, 0, 0, 0, 2, 2, 2, 3]
    assert made.row_starts().numpy().tolist() == [0, 4, 4, 7, 8]
    assert made.row_limits().numpy().tolist() == [4, 4, 7, 8, 8]


def test_it_has_a_shape_a_dtype_and_text() -> None:
    ragged = rows()
    assert ragged.shape.as_list() == [5, None] == ragged.get_shape().as_list()
    assert (ragged.dtype, ragged.ragged_rank, ragged.rank) == (tf.int32, 1, 2)
    assert (int(ragged.nrows()), len(ragged)) == (5, 5)
    assert ragged.bounding_shape().numpy().tolist() == [5, 4]
    assert int(ragged.bounding_shape(axis=1)) == 4
    assert repr(ragged) == str(ragged) == f"<tf.RaggedTensor {ROWS}>"
    assert str(words()[:1]) == "<tf.RaggedTensor [[b'Who', b'is']]>"
    assert "..." in str(tf.ragged.range([2000, 3]))
    assert nested().shape.as_list() == [3, None, None]
    assert [each.numpy().tolist() for each in nested().nested_row_splits] == [[0, 2, 2, 3], [0, 2, 3, 6]]
    assert [each.numpy().tolist() for each in nested().nested_row_lengths()] == [[2, 0, 1], [2, 1, 3]]
    assert [each.numpy().tolist() for each in nested().nested_value_rowids()] == [[0, 0, 2], [0, 0, 1, 2, 2, 2]]
    assert nested().row_lengths(axis=2).to_list() == [[2, 1], [], [3]]
    assert tf.is_tensor(ragged)
    assert not isinstance(ragged, tf.Tensor)
    assert pickle.loads(pickle.dumps(ragged)).to_list() == ROWS


def test_shapes_of_ragged_tensors_have_lengths() -> None:
    shape = tf.shape(rows())
    assert isinstance(shape, tf.experimental.DynamicRaggedShape)
    assert repr(shape) == "<DynamicRaggedShape lengths=[5, (4, 0, 3, 1, 0)] num_row_partitions=1>"
    assert (shape.rank, int(shape[0]), shape.is_uniform(1)) == (2, 5, False)
    with pytest.raises(ValueError, match="ragged"):
        shape[1]
    same = tf.experimental.DynamicRaggedShape.from_lengths([2, (2, 1)])
    assert tf.broadcast_to(7, same).to_list() == [[7, 7], [7]]
    assert tf.ones(same, tf.int32).to_list() == [[1, 1], [1]]
    assert same == tf.shape(tf.ragged.constant([[1, 2], [3]]))


def test_shapes_are_made_of_row_partitions() -> None:
    parts = [tf.experimental.RowPartition.from_row_lengths(each) for each in ([2, 1], [1, 2, 0])]
    shape = tf.experimental.DynamicRaggedShape(row_partitions=parts, inner_shape=[3, 4])
    assert repr(shape) == "<DynamicRaggedShape lengths=[2, (2, 1), (1, 2, 0), 4] num_row_partitions=2>"
    assert (list(shape.row_partitions), shape.inner_rank, shape.rank) == (parts, 2, 4)
    assert tf.zeros(shape).shape.as_list() == [2, None, None, 4]
    dense = tf.experimental.DynamicRaggedShape([], [3, 2])
    assert (dense.rank, dense.num_row_partitions, tf.ones(dense).shape) == (2, 0, (3, 2))
    with pytest.raises(ValueError, match="do not fit together"):
        tf.experimental.DynamicRaggedShape(parts, [4])
    with pytest.raises(ValueError, match="from_row_lengths"):
        tf.experimental.RowPartition([0, 1])


def test_row_partitions_describe_rows() -> None:
    of = tf.experimental.RowPartition
    splits = of.from_row_splits([0, 2, 2, 5])
    same = [
        of.from_row_lengths([2, 0, 3]),
        of.from_row_starts([0, 2, 2], nvals=5),
        of.from_row_limits([2, 2, 5]),
        of.from_value_rowids([0, 0, 2, 2, 2]),
    ]
    assert all(each == splits for each in same)
    assert repr(splits) == "tf.RowPartition(row_splits=[0 2 2 5])"
    assert [int(splits.nrows()), int(splits.nvals())] == [3, 5]
    assert splits.value_rowids().numpy().tolist() == [0, 0, 2, 2, 2]
    assert splits.offsets_in_rows().numpy().tolist() == [0, 1, 0, 1, 2]
    assert splits.with_dtype(tf.int32).row_splits().dtype == tf.int32
    uniform = of.from_uniform_row_length(2, nvals=6)
    assert repr(uniform) == "tf.RowPartition(nrows=3, uniform_row_length=2)"
    assert (uniform.is_uniform(), splits.uniform_row_length()) == (True, None)
    with pytest.raises(ValueError, match="row splits"):
        of.from_row_splits([1, 2])


def test_tensors_of_ragged_shapes_are_created_and_reshaped() -> None:
    shape = tf.shape(tf.ragged.constant([[1], [2, 3], []]))
    assert tf.reshape([["a"], ["b"], ["c"]], shape).to_list() == [[b"a"], [b"b", b"c"], []]
    assert tf.reshape(tf.ragged.constant([[1, 2], [3]]), shape).to_list() == [[1], [2, 3], []]
    assert tf.reshape(tf.ragged.constant([[1, 2], [3, 4]]), [4, 1]).numpy().tolist() == [[1], [2], [3], [4]]
    assert tf.fill(shape, 9).to_list() == [[9], [9, 9], []]
    assert tf.fill(shape, "x").to_list() == [[b"x"], [b"x", b"x"], []]
    assert tf.random.uniform(shape, 3.0, 4.0).row_lengths().numpy().tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="cannot reshape"):
        tf.reshape([1, 2], shape)


@pytest.mark.slow
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
def test_cumulative_sums_are_those_of_the_padded_rows(exclusive: bool, reverse: bool) -> None:
    for ragged in (rows(), nested(), tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)):
        for axis in range(-1, len(ragged.shape)):
            found = tf.cumsum(ragged, axis, exclusive=exclusive, reverse=reverse)
            padded = tf.cumsum(ragged.to_tensor(), axis, exclusive=exclusive, reverse=reverse)
            ones = tf.ones_like(ragged).to_tensor()
            assert found.row_lengths().numpy().tolist() == ragged.row_lengths().numpy().tolist()
            np.testing.assert_array_equal(found.to_tensor(), padded * ones)
    compiled = tf.function(lambda x: tf.cumsum(x, 1))(rows())
    assert compiled.to_list() == tf.cumsum(rows(), axis=1).to_list()


def test_columns_have_a_variance() -> None:
    ragged = tf.ragged.constant([[1.0, 2.0, 3.0], [], [4.0, 6.0]])
    np.testing.assert_allclose(tf.math.reduce_variance(ragged, axis=0), [2.25, 4.0, 0.0])
    np.testing.assert_allclose(tf.math.reduce_std(ragged, axis=0, keepdims=True), [[1.5, 2.0, 0.0]])
    np.testing.assert_allclose(tf.math.reduce_variance(ragged, axis=[0, 1]), np.var([1, 2, 3, 4, 6]), rtol=1e-6)


@pytest.mark.slow
def test_logarithms_of_sums_do_not_overflow() -> None:
    ragged = tf.ragged.constant([[1.0, 2.0, 3.0], [], [1000.0, 1000.0]])
    expected = [np.log(np.exp([1.0, 2.0, 3.0]).sum()), -np.inf, 1000 + np.log(2)]
    np.testing.assert_allclose(tf.reduce_logsumexp(ragged, axis=1), expected, rtol=1e-6)
    np.testing.assert_allclose(tf.reduce_logsumexp(ragged, -1, keepdims=True)[:, 0], expected, rtol=1e-6)
    np.testing.assert_allclose(tf.reduce_logsumexp(ragged), 1000 + np.log(2), rtol=1e-6)
    np.testing.assert_allclose(tf.reduce_logsumexp(ragged, axis=0), [1000, 1000, 3], rtol=1e-6)
    inner = tf.reduce_logsumexp(nested(), axis=2).to_list()
    assert [len(row) for row in inner] == [len(row) for row in nested().to_list()]
    np.testing.assert_allclose(inner[2], [np.log(np.exp([4, 5, 6]).sum())], rtol=1e-6)
    values = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        total = tf.reduce_sum(tf.reduce_logsumexp(tf.RaggedTensor.from_row_lengths(values, [3, 1]), axis=1))
    np.testing.assert_allclose(tape.gradient(total, values), [*tf.nn.softmax(values[:3]).numpy(), 1.0], rtol=1e-6)


def test_constants_have_the_dims_that_are_asked_for() -> None:
    pairs = [[[1, 2], [3, 4]], [[5, 6]]]
    assert tf.ragged.constant(pairs).ragged_rank == 2
    uniform = tf.ragged.constant(pairs, ragged_rank=1)
    assert uniform.shape.as_list() == [2, None, 2]
    assert tf.ragged.constant(pairs, inner_shape=(2,)).shape.as_list() == [2, None, 2]
    assert tf.ragged.constant([[1], []], dtype=tf.float32).dtype == tf.float32
    assert tf.ragged.constant([[], []]).dtype == tf.float32
    assert tf.ragged.constant(3).shape == ()
    with pytest.raises(ValueError, match="depth"):
        tf.ragged.constant([[1], 2])


def test_rows_that_do_not_fit_are_an_error() -> None:
    for splits in ([0, 2], [1, 3], [0, 3, 2, 3]):
        with pytest.raises(ValueError, match="do not partition 3 values"):
            tf.RaggedTensor.from_row_splits([1, 2, 3], splits)
    with pytest.raises(ValueError, match="increasing order"):
        tf.RaggedTensor.from_value_rowids([1, 2], [1, 0])
    with pytest.raises(ValueError, match="rows of length 2"):
        tf.RaggedTensor.from_uniform_row_length([1, 2, 3], 2)
    with pytest.raises(ValueError, match="at least one dim"):
        tf.RaggedTensor.from_row_splits(3, [0, 1])


def test_nested_rows_are_made_from_lists_of_partitions() -> None:
    flat = [1, 2, 3, 4, 5, 6]
    for made in (
        tf.RaggedTensor.from_nested_row_splits(flat, [[0, 2, 2, 3], [0, 2, 3, 6]]),
        tf.RaggedTensor.from_nested_row_lengths(flat, [[2, 0, 1], [2, 1, 3]]),
        tf.RaggedTensor.from_nested_value_rowids(flat, [[0, 0, 2], [0, 0, 1, 2, 2, 2]]),
    ):
        assert made.to_list() == NESTED
    dense = tf.RaggedTensor.from_tensor(np.arange(12).reshape(2, 2, 3), ragged_rank=2)
    assert dense.shape.as_list() == [2, 2, 3]
    assert dense.to_list() == np.arange(12).reshape(2, 2, 3).tolist()
    assert nested().with_flat_values([6, 5, 4, 3, 2, 1]).to_list() == [[[6, 5], [4]], [], [[3, 2, 1]]]
    assert rows().with_values(tf.range(8)).to_list() == [[0, 1, 2, 3], [], [4, 5, 6], [7], []]
    with pytest.raises(ValueError, match="Expected 8"):
        rows().with_values([1])
    assert rows().with_row_splits_dtype(tf.int32).row_splits.dtype == tf.int32


def test_dims_are_merged() -> None:
    assert nested().merge_dims(0, 1).to_list() == [[1, 2], [3], [4, 5, 6]]
    assert nested().merge_dims(1, 2).to_list() == [[1, 2, 3], [], [4, 5, 6]]
    assert nested().merge_dims(0, -1).numpy().tolist() == [1, 2, 3, 4, 5, 6]
    inner = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    assert inner.merge_dims(1, 2).to_list() == [[1, 2, 3, 4], [5, 6]]


INDEXED: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda x: x[0], [3, 1, 4, 1]),
    (lambda x: x[-2], [6]),
    (lambda x: x[2, 1], 9),
    (lambda x: x[1:3], [[], [5, 9, 2]]),
    (lambda x: x[::2], [[3, 1, 4, 1], [5, 9, 2], []]),
    (lambda x: x[::-1], ROWS[::-1]),
    (lambda x: x[:, :2], [[3, 1], [], [5, 9], [6], []]),
    (lambda x: x[:, -2:], [[4, 1], [], [9, 2], [6], []]),
    (lambda x: x[:, 1:-1], [[1, 4], [], [9], [], []]),
    (lambda x: x[:, ::-2], [[1, 1], [], [2, 5], [6], []]),
    (lambda x: x[2:, 0:1], [[5], [6], []]),
    (lambda x: x[..., 2:], [[4, 1], [], [2], [], []]),
    (lambda x: x[tf.newaxis], [ROWS]),
    (lambda x: x[:, tf.newaxis], [[row] for row in ROWS]),
    (lambda x: x[..., tf.newaxis], [[[each] for each in row] for row in ROWS]),
    (lambda x: x[tf.constant(2)], [5, 9, 2]),
]


@pytest.mark.parametrize("number", range(len(INDEXED)))
def test_it_is_indexed_as_lists_are(number: int) -> None:
    index, expected = INDEXED[number]
    found = index(rows())
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == expected


def test_rows_of_rows_are_indexed() -> None:
    ragged = nested()
    assert ragged[0].to_list() == [[1, 2], [3]]
    assert ragged[2, 0].numpy().tolist() == [4, 5, 6]
    assert int(ragged[2, 0, 1]) == 5
    assert ragged[:, 1:].to_list() == [[[3]], [], []]
    assert ragged[:, :, :1].to_list() == [[[1], [3]], [], [[4]]]
    assert ragged[..., -1:].to_list() == [[[2], [3]], [], [[6]]]
    uniform = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    assert uniform[:, :, 1].to_list() == [[2, 4], [6]]
    assert [row.to_list() for row in ragged] == NESTED


def test_what_cannot_be_indexed_says_why() -> None:
    with pytest.raises(ValueError, match="inner ragged dimension"):
        rows()[:, 1]
    with pytest.raises(IndexError, match="Row 5"):
        rows()[5]
    with pytest.raises(ValueError, match="Too many indices"):
        rows()[0, 0, 0]
    with pytest.raises(ValueError, match="no index"):
        rows()[rows()]
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(rows())


def test_operators_are_those_of_tensors() -> None:
    x, y = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[10, 20], [30]])
    assert (x + y).to_list() == [[11, 22], [33]]
    assert (y - x).to_list() == [[9, 18], [27]]
    assert (2 * x).to_list() == (x * 2).to_list() == [[2, 4], [6]]
    assert (1 - x).to_list() == [[0, -1], [-2]]
    assert (y / x).to_list() == [[10.0, 10.0], [10.0]]
    assert (y // 3).to_list() == [[3, 6], [10]]
    assert (y % 4).to_list() == [[2, 0], [2]]
    assert (x**2).to_list() == [[1, 4], [9]]
    assert (-x).to_list() == [[-1, -2], [-3]]
    assert abs(-x).to_list() == [[1, 2], [3]]
    assert (x == [[1, 2], [3]][0][0]).to_list() == [[True, False], [False]]
    assert (x != y).to_list() == [[True, True], [True]]
    assert (x > 1).to_list() == [[False, True], [True]]
    assert (x <= 1).to_list() == [[True, False], [False]]
    assert ((x > 1) & (x < 3)).to_list() == [[False, True], [False]]
    assert (~(x > 1) | (x == 3)).to_list() == [[True, False], [True]]
    assert (np.int32(5) + x).to_list() == (tf.constant(5) + x).to_list() == [[6, 7], [8]]


def test_operands_are_broadcast() -> None:
    x = tf.ragged.constant([[1, 2], [3]])
    assert (x + tf.constant([[10], [20]])).to_list() == [[11, 12], [23]]
    assert (x + tf.ragged.constant([[10], [20]])).to_list() == [[11, 12], [23]]
    assert (x + tf.constant([[10]])).to_list() == [[11, 12], [13]]
    deep = tf.ragged.constant([[[1, 2], [3]], [[4]]])
    assert (deep + tf.constant([[[10]], [[20]]])).to_list() == [[[11, 12], [13]], [[24]]]
    assert (deep * tf.ragged.constant([[[10], [100]], [[1]]])).to_list() == [[[10, 20], [300]], [[4]]]
    assert (tf.ragged.constant([[[1], [2]]]) + x).to_list() == [[[2, 3], [5]]]
    vectors = tf.ragged.constant([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]], ragged_rank=1)
    assert (vectors * tf.constant([1.0, 10.0])).to_list() == [[[1.0, 20.0], [3.0, 40.0]], [[5.0, 60.0]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="different lengths"):
        x + tf.constant([[1, 2, 3, 4], [5, 6, 7, 8]])


def reduced(function: Any, value: Any, axis: Any, **options: Any) -> Any:
    found = function(value, axis=axis, **options)
    return found.to_list() if isinstance(found, tf.RaggedTensor) else np.asarray(found).tolist()


def test_reductions_take_any_axis() -> None:
    ragged = rows()
    low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    assert reduced(tf.reduce_sum, ragged, None) == 31
    assert reduced(tf.reduce_sum, ragged, 0) == [14, 10, 6, 1]
    assert reduced(tf.reduce_sum, ragged, 1) == [9, 0, 16, 6, 0]
    assert reduced(tf.reduce_prod, ragged, 1) == [12, 1, 90, 6, 1]
    assert reduced(tf.reduce_max, ragged, -1) == [4, low, 9, 6, low]
    assert reduced(tf.reduce_min, ragged, 1) == [1, high, 2, 6, high]
    assert reduced(tf.reduce_any, ragged > 5, 1) == [False, False, True, True, False]
    assert reduced(tf.reduce_all, ragged > 1, 1) == [False, True, True, True, True]
    assert reduced(tf.reduce_sum, ragged, 1, keepdims=True) == [[9], [0], [16], [6], [0]]
    assert reduced(tf.argmax, ragged[::2][:2], 1) == [2, 1]
    deep = nested()
    assert reduced(tf.reduce_sum, deep, 0) == [[5, 7, 6], [3]]
    assert reduced(tf.reduce_sum, deep, 1) == [[4, 2], [], [4, 5, 6]]
    assert reduced(tf.reduce_sum, deep, 2) == [[3, 3], [], [15]]
    assert reduced(tf.reduce_sum, deep, [1, 2]) == [6, 0, 15]


def test_means_and_variances_are_those_of_each_row() -> None:
    ragged = tf.ragged.constant([[1.0, 3.0], [5.0], [2.0, 4.0, 9.0]])
    expected = [np.array(row) for row in ragged.to_list()]
    np.testing.assert_allclose(tf.reduce_mean(ragged, axis=1), [row.mean() for row in expected])
    np.testing.assert_allclose(tf.math.reduce_variance(ragged, axis=1), [row.var() for row in expected], rtol=1e-6)
    np.testing.assert_allclose(tf.math.reduce_std(ragged, axis=1), [row.std() for row in expected], rtol=1e-6)
    np.testing.assert_allclose(tf.reduce_mean(ragged, axis=0), [8 / 3, 3.5, 9.0])
    np.testing.assert_allclose(tf.reduce_mean(ragged), 4.0)
    soft = tf.nn.softmax(ragged)
    for row, values in zip(soft, expected, strict=True):
        np.testing.assert_allclose(row, np.exp(values) / np.exp(values).sum(), rtol=1e-6)


def test_rows_are_joined_stacked_and_repeated() -> None:
    x, y = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[4], [5, 6]])
    assert tf.concat([x, y], axis=0).to_list() == [[1, 2], [3], [4], [5, 6]]
    assert tf.concat([x, y], axis=1).to_list() == [[1, 2, 4], [3, 5, 6]]
    assert tf.concat([x, tf.fill([2, 1], 0)], axis=1).to_list() == [[1, 2, 0], [3, 0]]
    assert tf.stack([x, y]).to_list() == [[[1, 2], [3]], [[4], [5, 6]]]
    assert tf.stack([x, y], axis=1).to_list() == [[[1, 2], [4]], [[3], [5, 6]]]
    assert tf.ragged.stack([[1, 2], [3]]).to_list() == [[1, 2], [3]]
    assert tf.ragged.stack([x, y], axis=1).to_list() == [[[1, 2], [4]], [[3], [5, 6]]]
    assert tf.tile(x, [2, 2]).to_list() == [[1, 2, 1, 2], [3, 3]] * 2
    assert tf.repeat(x, 2, axis=0).to_list() == [[1, 2], [1, 2], [3], [3]]
    assert tf.repeat(x, 2, axis=1).to_list() == [[1, 1, 2, 2], [3, 3]]
    assert tf.reverse(x, [0]).to_list() == [[3], [1, 2]]
    assert tf.reverse(x, [1]).to_list() == [[2, 1], [3]]
    assert tf.expand_dims(x, 0).to_list() == [[[1, 2], [3]]]
    assert tf.expand_dims(x, 1).to_list() == [[[1, 2]], [[3]]]
    assert tf.expand_dims(x, -1).to_list() == [[[1], [2]], [[3]]]
    assert tf.squeeze(tf.expand_dims(x, 1), 1).to_list() == x.to_list()
    assert [row.numpy().tolist() for row in tf.unstack(x)] == [[1, 2], [3]]
    assert [part.to_list() for part in tf.split(x, 2)] == [[[1, 2]], [[3]]]
    assert (int(tf.size(x)), int(tf.rank(x))) == (3, 2)


def test_rows_and_values_are_chosen() -> None:
    ragged, deep = rows(), nested()
    assert tf.gather(ragged, [3, 0]).to_list() == [[6], [3, 1, 4, 1]]
    assert tf.gather(ragged, [[3], [0]]).to_list() == [[[6]], [[3, 1, 4, 1]]]
    assert tf.gather(tf.constant([10, 20, 30]), tf.ragged.constant([[2], [0, 1]])).to_list() == [[30], [10, 20]]
    assert tf.gather(deep, [1, 0], axis=0).to_list() == [[], [[1, 2], [3]]]
    two = tf.ragged.constant([[1, 2, 3], [4, 5]])
    assert tf.gather(two, [[0, 2], [1, 1]], batch_dims=1).to_list() == [[1, 3], [5, 5]]
    assert tf.gather(two, tf.ragged.constant([[1], [0, 1]]), batch_dims=1).to_list() == [[2], [4, 5]]
    assert tf.gather_nd(ragged, [[0, 2], [2, 1]]).numpy().tolist() == [4, 9]
    assert tf.gather_nd(ragged, [[3], [0]]).to_list() == [[6], [3, 1, 4, 1]]
    assert tf.ragged.boolean_mask(ragged, ragged > 3).to_list() == [[4], [], [5, 9], [6], []]
    assert tf.boolean_mask(ragged, [True, False, True, False, False]).to_list() == [[3, 1, 4, 1], [5, 9, 2]]
    assert tf.where(ragged > 3, ragged, 0).to_list() == [[0, 0, 4, 0], [], [5, 9, 0], [6], []]
    assert tf.where(ragged > 4).numpy().tolist() == [[2, 0], [2, 1], [3, 0]]
    assert tf.sort(ragged).to_list() == [sorted(row) for row in ROWS]
    assert tf.sort(ragged, direction="DESCENDING").to_list() == [sorted(row)[::-1] for row in ROWS]
    assert tf.argsort(ragged).to_list() == [[1, 3, 0, 2], [], [2, 0, 1], [0], []]


def test_functions_of_values_apply_to_the_flat_values() -> None:
    ragged = tf.ragged.constant([[1.5, -2.5], [3.5]])
    assert tf.cast(ragged, tf.int32).to_list() == [[1, -2], [3]]
    assert tf.square(ragged).to_list() == [[2.25, 6.25], [12.25]]
    assert tf.nn.relu(ragged).to_list() == [[1.5, 0.0], [3.5]]
    assert tf.maximum(ragged, 2.0).to_list() == [[2.0, 2.0], [3.5]]
    assert tf.clip_by_value(ragged, -1.0, 2.0).to_list() == [[1.5, -1.0], [2.0]]
    assert tf.add_n([ragged, ragged]).to_list() == [[3.0, -5.0], [7.0]]
    assert tf.zeros_like(ragged).to_list() == [[0.0, 0.0], [0.0]]
    assert tf.one_hot(tf.ragged.constant([[1], [0]]), 2).to_list() == [[[0.0, 1.0]], [[1.0, 0.0]]]
    assert tf.ragged.map_flat_values(lambda x: x * 2 + 1, ragged).to_list() == [[4.0, -4.0], [8.0]]
    assert tf.ragged.map_flat_values(tf.add, ragged, ragged).to_list() == [[3.0, -5.0], [7.0]]
    with pytest.raises(ValueError, match="one value for each"):
        tf.ragged.map_flat_values(tf.reduce_sum, ragged)
    with pytest.raises(
        TypeError, match=r"tf\.linalg\.inv does not accept a RaggedTensor\. Apply it to the flat values"
    ):
        tf.linalg.inv(ragged)
    with pytest.raises(TypeError, match="to_tensor"):
        tf.convert_to_tensor(ragged)


def test_text_is_ragged_too() -> None:
    text = words()
    assert text.dtype == tf.string
    assert tf.strings.upper(text).to_list() == [[b"WHO", b"IS"], [b"PAUSE"], [b"WILL", b"IT", b"RAIN"]]
    assert tf.strings.length(text).to_list() == [[3, 2], [5], [4, 2, 4]]
    assert tf.strings.substr(text, 0, 2).to_list() == [[b"Wh", b"is"], [b"Pa"], [b"Wi", b"it", b"ra"]]
    pairs = tf.strings.join([text[:, :-1], text[:, 1:]], separator="+")
    assert pairs.to_list() == [[b"Who+is"], [], [b"Will+it", b"it+rain"]]
    assert tf.strings.reduce_join(text, axis=-1, separator=" ").numpy().tolist() == [
        b"Who is",
        b"Pause",
        b"Will it rain",
    ]
    hashed = tf.strings.to_hash_bucket_fast(text, 100)
    assert hashed.to_list() == [[int(tf.strings.to_hash_bucket_fast(w, 100)) for w in row] for row in text.to_list()]
    assert (text == "is").to_list() == [[False, True], [False], [False, False, False]]
    assert text.to_tensor("-").numpy()[1].tolist() == [b"Pause", b"-", b"-"]
    marker = tf.fill([text.nrows(), 1], "#")
    assert tf.concat([marker, text, marker], axis=1).to_list()[1] == [b"#", b"Pause", b"#"]


def test_strings_are_split_into_ragged_parts() -> None:
    assert tf.strings.split("a b").numpy().tolist() == [b"a", b"b"]
    assert tf.strings.split(["a b c", "d"]).to_list() == [[b"a", b"b", b"c"], [b"d"]]
    assert tf.strings.split([["a b", ""], ["c", "d e"]]).to_list() == [[[b"a", b"b"], []], [[b"c"], [b"d", b"e"]]]
    assert tf.strings.split(tf.ragged.constant([["a b"], []])).to_list() == [[[b"a", b"b"]], []]
    assert tf.strings.bytes_split(["ab", "c"]).to_list() == [[b"a", b"b"], [b"c"]]
    assert tf.strings.unicode_split(["wö", "x"], "UTF-8").to_list() == [[b"w", "ö".encode()], [b"x"]]
    points = tf.strings.unicode_decode(["wö", "x"], "UTF-8")
    assert points.to_list() == [[119, 246], [120]]
    assert tf.strings.unicode_encode(points, "UTF-8").numpy().tolist() == ["wö".encode(), b"x"]


def test_ranges_and_segments() -> None:
    assert tf.ragged.range([3, 0, 2]).to_list() == [[0, 1, 2], [], [0, 1]]
    assert tf.ragged.range([1, 5], [4, 2], [1, -2]).to_list() == [[1, 2, 3], [5, 3]]
    assert tf.ragged.range([0.0, 1.0], [1.0, 2.0], 0.5).to_list() == [[0.0, 0.5], [1.0, 1.5]]
    assert tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]).numpy().tolist() == [0, 0, 0, 2, 2]
    assert tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2], num_segments=4).numpy().tolist() == [0, 3, 3, 5, 5]
    letters = tf.ragged.stack_dynamic_partitions(["a", "b", "c", "d"], [3, 0, 1, 3], 4)
    assert letters.to_list() == [[b"b"], [b"c"], [], [b"a", b"d"]]


def test_padded_tensors_have_the_wanted_shape() -> None:
    ragged = rows()
    assert ragged.to_tensor().shape == (5, 4)
    assert ragged.to_tensor(-1).numpy()[2].tolist() == [5, 9, 2, -1]
    assert ragged.to_tensor(shape=[None, 2]).numpy()[0].tolist() == [3, 1]
    assert ragged.to_tensor(7, shape=[6, 5]).numpy()[5].tolist() == [7] * 5
    assert ragged.to_tensor(shape=tf.constant([3, 4])).shape == (3, 4)
    assert nested().to_tensor().numpy().tolist() == [[[1, 2, 0], [3, 0, 0]], [[0] * 3] * 2, [[4, 5, 6], [0] * 3]]
    assert nested().to_tensor(shape=[None, 1, 2]).numpy().tolist() == [[[1, 2]], [[0, 0]], [[4, 5]]]
    unequal = ragged.numpy()
    assert unequal.dtype == object
    assert unequal[2].tolist() == [5, 9, 2]
    assert tf.ragged.constant([[1, 2], [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]


def test_compiled_functions_know_the_rows_of_their_arguments() -> None:
    @tf.function
    def join_reversed(x: Any, axis: int) -> Any:
        return tf.concat([x, tf.reverse(x, [axis])], axis)

    assert join_reversed(tf.constant([[1, 2], [3, 4]]), axis=1).numpy().tolist() == [[1, 2, 2, 1], [3, 4, 4, 3]]
    assert join_reversed(tf.ragged.constant([[1, 2], [3]]), axis=1).to_list() == [[1, 2, 2, 1], [3, 3]]
    assert join_reversed(tf.ragged.constant([[1], [2, 3]]), axis=1).to_list() == [[1, 1], [2, 3, 3, 2]]

    @tf.function(input_signature=[tf.RaggedTensorSpec(shape=[None, None], dtype=tf.int32)])
    def largest_and_padded(x: Any) -> Any:
        return tf.reduce_max(x, axis=-1), x.to_tensor(), x + 1

    largest, padded, more = largest_and_padded(tf.ragged.constant([[1, 5], [3]]))
    assert (largest.numpy().tolist(), padded.numpy().tolist(), more.to_list()) == (
        [5, 3],
        [[1, 5], [3, 0]],
        [[2, 6], [4]],
    )
    with pytest.raises(TypeError, match="ragged tensor that fits"):
        largest_and_padded(tf.ragged.constant([[1.0]]))
    concrete = join_reversed.get_concrete_function(tf.ragged.constant([[1, 2], [3]]), axis=1)
    assert concrete(tf.ragged.constant([[1, 2], [3]]), axis=1).to_list() == [[1, 2, 2, 1], [3, 3]]


COMPUTED_ROWS = {
    "padding": lambda x: x.to_tensor(),
    "a slice": lambda x: x[:, :1],
    "a row": lambda x: x[2],
    "a reduction of columns": lambda x: tf.reduce_sum(x, axis=0),
    "a list": lambda x: len(x.to_list()),
    "a shape": lambda x: tf.shape(x).bounding_shape(),
    "broadcasting": lambda x: (x + tf.ragged.constant([[1]] * 5)).flat_values,
}


@pytest.mark.parametrize("name", COMPUTED_ROWS)
def test_a_function_that_needs_the_lengths_of_rows_that_it_computes_runs_on_the_host(name: str) -> None:
    def use_rows(values: Any, splits: Any) -> Any:
        return COMPUTED_ROWS[name](tf.RaggedTensor.from_row_splits(values, splits))

    arguments = (tf.constant(VALUES), tf.constant([0, 4, 4, 7, 8, 8]))
    with pytest.warns(UserWarning, match="on the host, line by line: .*the lengths of the rows of a ragged"):
        found = tf.function(use_rows)(*arguments)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(use_rows(*arguments)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_that_a_compiled_function_computes_are_reduced_and_padded_with_a_bound() -> None:
    def use_rows(values: Any, splits: Any) -> Any:
        ragged = tf.RaggedTensor.from_row_splits(values, splits)
        scaled = tf.cast(ragged, tf.float32) * 2.0
        return tf.reduce_sum(scaled, axis=1), ragged.to_tensor(shape=[None, 4]), tf.nn.softmax(scaled), ragged

    total, padded, soft, ragged = jax.jit(use_rows)(np.array(VALUES), np.array([0, 4, 4, 7, 8, 8]))
    assert total.tolist() == [18.0, 0.0, 32.0, 12.0, 0.0]
    assert padded.tolist() == rows().to_tensor().tolist()
    assert tf.reduce_sum(soft, axis=1).numpy()[[0, 2, 3]] == pytest.approx([1, 1, 1])
    assert ragged.to_list() == ROWS
    for function in (lambda x: x.to_tensor(), lambda x: x[0], lambda x: tf.concat([x, x], 1)):
        with pytest.raises(ValueError, match=r"compiled\s+function"):
            jax.jit(lambda v, s, f=function: f(tf.RaggedTensor.from_row_splits(v, s)))(
                np.array(VALUES), np.array([0, 4, 4, 7, 8, 8])
            )


def test_gradients_flow_through_the_values() -> None:
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    ids = tf.ragged.constant([[0, 1], [2], [0, 2, 2]])
    with tf.GradientTape() as tape:
        embedded = tf.nn.embedding_lookup(table, ids)
        loss = tf.reduce_sum(tf.reduce_mean(embedded, axis=1))
    assert embedded.shape.as_list() == [3, None, 2]
    gradient = tape.gradient(loss, table).numpy()
    np.testing.assert_allclose(gradient[:, 0], [1 / 2 + 1 / 3, 1 / 2, 1 + 2 / 3], rtol=1e-6)


def test_matrices_are_multiplied_row_by_row() -> None:
    ragged = tf.ragged.constant([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], ragged_rank=1)
    product = tf.matmul(ragged, tf.constant([[1.0], [10.0]]))
    assert product.to_list() == [[[21.0]], [[43.0], [65.0]]]


def test_map_fn_takes_and_gives_ragged_tensors() -> None:
    ragged = tf.ragged.constant([[1, 2], [3]])
    assert tf.map_fn(tf.reduce_sum, ragged, fn_output_signature=tf.int32).numpy().tolist() == [3, 3]
    assert tf.map_fn(lambda row: row + 1, ragged).to_list() == [[2, 3], [4]]
    spec = tf.RaggedTensorSpec(shape=[None], dtype=tf.int32, ragged_rank=0)
    assert tf.map_fn(tf.range, tf.constant([2, 0, 1]), fn_output_signature=spec).to_list() == [[0, 1], [], [0]]


def test_specs_describe_ragged_tensors() -> None:
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    assert isinstance(spec, tf.TypeSpec)
    assert repr(spec) == "RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)"
    assert spec.is_compatible_with(rows())
    assert not spec.is_compatible_with(nested())
    assert spec == tf.RaggedTensorSpec([None, None], tf.int32, ragged_rank=1)
    assert tf.RaggedTensorSpec.from_value(rows()) == tf.RaggedTensorSpec([5, None], tf.int32)
    with pytest.raises(ValueError, match="ragged_rank"):
        tf.RaggedTensorSpec([None], tf.int32, ragged_rank=1)
