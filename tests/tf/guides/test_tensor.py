"""guide/tensor: Introduction to tensors."""

import numpy as np
import pytest

import unisono.tf as tf


def test_ranks() -> None:
    """scalars, vectors, matrices and a tensor of three axes; numpy() and np.array"""
    assert tf.constant(4).numpy() == 4
    assert tf.constant([2.0, 3.0, 4.0]).shape == (3,)
    rank_2 = tf.constant([[1, 2], [3, 4], [5, 6]], dtype=tf.float16)
    assert rank_2.dtype == tf.float16
    assert np.array(rank_2).dtype == np.float16
    rank_3 = tf.constant(np.arange(30).reshape(3, 2, 5))
    assert rank_3.ndim == 3
    np.testing.assert_array_equal(rank_3.numpy(), np.array(rank_3))


def test_basic_operations() -> None:
    """add, multiply, matmul and their operators; reduce_max, math.argmax, nn.softmax"""
    a, b = tf.constant([[1, 2], [3, 4]]), tf.constant([[1, 1], [1, 1]])
    np.testing.assert_array_equal(tf.add(a, b), a + b)
    np.testing.assert_array_equal(tf.multiply(a, b), a * b)
    np.testing.assert_array_equal(tf.matmul(a, b), a @ b)
    c = tf.constant([[4.0, 5.0], [10.0, 1.0]])
    assert tf.reduce_max(c) == 10
    np.testing.assert_array_equal(tf.math.argmax(c), [1, 0])
    np.testing.assert_allclose(tf.nn.softmax(c).numpy().sum(1), 1, rtol=1e-6)
    assert tf.reduce_max(np.array([1, 2, 3])) == 3


def test_shapes() -> None:
    """dtype, ndim, shape with negative index, tf.rank, tf.shape, tf.size, as_list"""
    rank_4 = tf.zeros([3, 2, 4, 5])
    assert rank_4.dtype == tf.float32
    assert rank_4.ndim == 4
    assert rank_4.shape[-1] == 5
    assert rank_4.shape.as_list() == [3, 2, 4, 5]
    assert tf.rank(rank_4).numpy() == 4
    np.testing.assert_array_equal(tf.shape(rank_4).numpy(), [3, 2, 4, 5])
    assert tf.size(rank_4).numpy() == 120


def test_indexing() -> None:
    """single index, negative index, ranges, reversed, several axes, ellipsis, newaxis"""
    rank_1 = tf.constant([0, 1, 1, 2, 3, 5, 8, 13, 21, 34])
    assert rank_1[0].numpy() == 0
    assert rank_1[-1].numpy() == 34
    np.testing.assert_array_equal(rank_1[2:7].numpy(), [1, 2, 3, 5, 8])
    np.testing.assert_array_equal(rank_1[::-1].numpy(), rank_1.numpy()[::-1])
    rank_3 = tf.reshape(tf.range(30), (3, 2, 5))
    np.testing.assert_array_equal(rank_3[:, :, 4], rank_3.numpy()[:, :, 4])
    np.testing.assert_array_equal(rank_3[..., tf.newaxis, 0], rank_3.numpy()[..., None, 0])


def test_reshaping() -> None:
    """reshape with -1, flattened, swapped by transpose; a reshape that does not fit raises InvalidArgumentError"""
    x = tf.constant([[1], [2], [3]])
    np.testing.assert_array_equal(tf.reshape(x, [1, 3]), [[1, 2, 3]])
    rank_3 = tf.reshape(tf.range(30), (3, 2, 5))
    np.testing.assert_array_equal(tf.reshape(rank_3, [-1]), np.arange(30))
    assert tf.reshape(rank_3, [3, -1]).shape == (3, 10)
    assert tf.transpose(rank_3, perm=[1, 0, 2]).shape == (2, 3, 5)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.reshape(rank_3, [7, -1])


def test_dtypes_and_casts() -> None:
    """cast between float64, float16 and uint8"""
    the_f64 = tf.constant([2.2, 3.3, 4.4], dtype=tf.float64)
    the_f16 = tf.cast(the_f64, dtype=tf.float16)
    the_u8 = tf.cast(the_f16, dtype=tf.uint8)
    assert the_u8.dtype == tf.uint8
    np.testing.assert_array_equal(the_u8.numpy(), [2, 3, 4])


def test_broadcasting() -> None:
    """scalars, stretched axes, tf.broadcast_to"""
    x, y = tf.constant([1, 2, 3]), tf.constant(2)
    np.testing.assert_array_equal(tf.multiply(x, 2), x * y)
    column = tf.reshape(x, [3, 1])
    assert tf.multiply(column, tf.range(1, 5)).shape == (3, 4)
    np.testing.assert_array_equal(tf.broadcast_to(tf.constant([1, 2, 3]), [3, 3]), [[1, 2, 3]] * 3)


def test_string_tensors() -> None:
    """constants of strings, strings.split, strings.to_number, unicode, decode_raw and bytes_split"""
    scalar = tf.constant("Gray wolf")
    assert scalar.dtype == tf.string
    assert scalar.numpy() == b"Gray wolf"
    several = tf.constant(["Gray wolf", "Quick brown fox", "Lazy dog"])
    assert several.shape == (3,)
    assert tf.strings.split(scalar, sep=" ").numpy().tolist() == [b"Gray", b"wolf"]
    np.testing.assert_array_equal(tf.strings.to_number(tf.strings.split(tf.constant("1 10 100"), " ")), [1, 10, 100])
    assert tf.constant("🥳👍").numpy() == "🥳👍".encode()
    np.testing.assert_array_equal(tf.io.decode_raw(tf.constant("Duck"), tf.uint8).numpy(), list(b"Duck"))
    assert tf.strings.bytes_split(tf.constant("Duck")).numpy().tolist() == [b"D", b"u", b"c", b"k"]
    assert tf.strings.unicode_split(tf.constant("アヒル"), "UTF-8").shape == (3,)
    np.testing.assert_array_equal(tf.strings.unicode_decode(tf.constant("ab"), "UTF-8"), [97, 98])


def test_ragged_tensors() -> None:
    """ragged.constant, its shape; tf.constant of rows of different lengths raises"""
    rows = [[0, 1, 2, 3], [4, 5], [6, 7, 8], [9]]
    with pytest.raises(ValueError):  # noqa: PT011
        tf.constant(rows)
    ragged = tf.ragged.constant(rows)
    assert ragged.shape.as_list() == [4, None]
    split = tf.strings.split(tf.constant(["Gray wolf", "Quick brown fox"]))
    assert split.to_list() == [[b"Gray", b"wolf"], [b"Quick", b"brown", b"fox"]]


def test_sparse_tensors() -> None:
    """sparse.SparseTensor, sparse.to_dense"""
    sparse = tf.sparse.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])
    np.testing.assert_array_equal(tf.sparse.to_dense(sparse), [[1, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]])
