"""guide/tensor_slicing: Introduction to tensor slicing."""

import numpy as np

import unisono.tf as tf

T1 = tf.constant([0, 1, 2, 3, 4, 5, 6, 7])
T2 = tf.constant([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14], [15, 16, 17, 18, 19]])


def test_slices() -> None:
    """tf.slice of one to three axes, Python slices with steps and negative ends"""
    np.testing.assert_array_equal(tf.slice(T1, begin=[1], size=[3]), [1, 2, 3])
    np.testing.assert_array_equal(T1[1:4], [1, 2, 3])
    np.testing.assert_array_equal(T1[-3:], [5, 6, 7])
    np.testing.assert_array_equal(tf.slice(T2, begin=[1, 3], size=[3, 2]), T2.numpy()[1:4, 3:5])
    np.testing.assert_array_equal(T2[:-1, 1:3], T2.numpy()[:-1, 1:3])
    t3 = tf.reshape(tf.range(32), [2, 4, 4])
    np.testing.assert_array_equal(tf.slice(t3, begin=[1, 1, 0], size=[1, 1, 2]), [[[20, 21]]])
    np.testing.assert_array_equal(tf.strided_slice(T1, [0], [8], [3]), [0, 3, 6])


def test_gather() -> None:
    """tf.gather of positions, gather_nd of rows, of elements and with batch_dims"""
    alphabet = tf.constant(list("abcdefg"))
    assert tf.gather(alphabet, indices=[2, 0, 6, 6]).numpy().tolist() == [b"c", b"a", b"g", b"g"]
    np.testing.assert_array_equal(tf.gather(T1, indices=[0, 3, 6]), T1[::3])
    np.testing.assert_array_equal(tf.gather_nd(T2, indices=[[2], [3], [0]]), T2.numpy()[[2, 3, 0]])
    t5 = np.reshape(np.arange(18), [2, 3, 3])
    np.testing.assert_array_equal(tf.gather_nd(t5, indices=[[0, 0, 0], [1, 2, 1]]), [0, 16])
    np.testing.assert_array_equal(
        tf.gather_nd(t5, indices=[[[0, 0], [0, 2]], [[1, 0], [1, 2]]]), [[t5[0, 0], t5[0, 2]], [t5[1, 0], t5[1, 2]]]
    )
    np.testing.assert_array_equal(tf.gather_nd(t5, indices=[[0], [1]], batch_dims=1), [t5[0, 0], t5[1, 1]])


def test_scatter() -> None:
    """scatter_nd, tensor_scatter_nd_update, _add, _sub, _min and _max"""
    index = tf.constant([[0, 2], [1, 1]])
    np.testing.assert_array_equal(tf.scatter_nd(index, [5, 6], [2, 3]), [[0, 0, 5], [0, 6, 0]])
    dense = tf.gather_nd(T2, indices=index)
    assert tf.scatter_nd(indices=index, updates=dense, shape=[4, 5]).shape == (4, 5)
    ones = tf.ones([2, 3], tf.int32)
    np.testing.assert_array_equal(tf.tensor_scatter_nd_update(ones, index, [8, 9]), [[1, 1, 8], [1, 9, 1]])
    np.testing.assert_array_equal(tf.tensor_scatter_nd_add(ones, index, [8, 9]), [[1, 1, 9], [1, 10, 1]])
    np.testing.assert_array_equal(tf.tensor_scatter_nd_sub(ones, index, [1, 1]), [[1, 1, 0], [1, 0, 1]])
    np.testing.assert_array_equal(tf.tensor_scatter_nd_min(ones, index, [0, 5]), [[1, 1, 0], [1, 1, 1]])
    np.testing.assert_array_equal(tf.tensor_scatter_nd_max(ones, index, [0, 5]), [[1, 1, 1], [1, 5, 1]])
