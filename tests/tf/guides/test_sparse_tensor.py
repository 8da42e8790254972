"""guide/sparse_tensor: Working with sparse tensors."""

from __future__ import annotations

import numpy as np

import unisono.tf as tf


def sparse() -> tf.sparse.SparseTensor:
    return tf.sparse.SparseTensor(indices=[[0, 3], [2, 4]], values=[10, 20], dense_shape=[3, 10])


def test_creating() -> None:
    """SparseTensor with indices, values and dense_shape; from_dense, to_dense, printing"""
    st1 = sparse()
    assert st1.indices.numpy().tolist() == [[0, 3], [2, 4]]
    assert st1.values.numpy().tolist() == [10, 20]
    assert st1.dense_shape.numpy().tolist() == [3, 10]
    dense = tf.sparse.to_dense(st1)
    assert dense.numpy()[2, 4] == 20
    st2 = tf.sparse.from_dense([[1, 0, 0, 8], [0, 0, 0, 0], [0, 0, 3, 0]])
    assert st2.values.numpy().tolist() == [1, 8, 3]
    assert "SparseTensor" in repr(st1)


def test_manipulating() -> None:
    """sparse.add, sparse_dense_matmul, concat, slice, map_values, reduce_sum, reorder"""
    a = tf.sparse.SparseTensor(indices=[[0, 2], [3, 4]], values=[31, 2], dense_shape=[4, 10])
    b = tf.sparse.SparseTensor(indices=[[0, 2], [3, 0]], values=[56, 38], dense_shape=[4, 10])
    total = tf.sparse.to_dense(tf.sparse.add(a, b)).numpy()
    assert (total[0, 2], total[3, 4], total[3, 0]) == (87, 2, 38)
    product = tf.sparse.sparse_dense_matmul(
        tf.sparse.SparseTensor(indices=[[0, 1], [1, 0], [1, 1]], values=[13, 15, 17], dense_shape=(2, 2)),
        tf.constant([[4], [6]]),
    )
    np.testing.assert_array_equal(product, [[78], [162]])
    joined = tf.sparse.concat(axis=1, sp_inputs=[a, b])
    assert joined.dense_shape.numpy().tolist() == [4, 20]
    part = tf.sparse.slice(a, start=[0, 1], size=[2, 4])
    assert tf.sparse.to_dense(part).numpy()[0, 1] == 31
    assert tf.sparse.map_values(tf.add, a, 5).values.numpy().tolist() == [36, 7]
    scaled = tf.sparse.map_values(tf.multiply, a, tf.constant([2, 3]))
    assert scaled.values.numpy().tolist() == [62, 6]
    np.testing.assert_array_equal(tf.sparse.reduce_sum(a, axis=1), [31, 0, 0, 2])
    assert tf.sparse.to_dense(tf.sparse.reorder(b)).numpy()[3, 0] == 38


def test_with_other_apis() -> None:
    """Keras models of sparse inputs, tf.data with batch, tf.Example with VarLenFeature, tf.function"""
    ds = tf.data.Dataset.from_tensor_slices(sparse())
    first = next(iter(ds))
    assert tf.sparse.to_dense(first).numpy().tolist() == [0, 0, 0, 10, 0, 0, 0, 0, 0, 0]
    batched = next(iter(ds.batch(3)))
    assert batched.dense_shape.numpy().tolist() == [3, 10]
    feature = {"x": tf.train.Feature(int64_list=tf.train.Int64List(value=[5, 6]))}
    example = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    parsed = tf.io.parse_example([example], {"x": tf.io.VarLenFeature(tf.int64)})["x"]
    assert tf.sparse.to_dense(parsed).numpy().tolist() == [[5, 6]]

    @tf.function
    def f(x: tf.sparse.SparseTensor, y: tf.Tensor) -> tf.Tensor:
        return tf.sparse.sparse_dense_matmul(x, y)

    a = tf.sparse.SparseTensor(indices=[[0, 3], [2, 4]], values=[15.0, 25.0], dense_shape=[3, 10])
    np.testing.assert_array_equal(f(a, tf.ones([10, 1])), [[15], [0], [25]])
    x = tf.keras.Input(shape=(4,), sparse=True)
    model = tf.keras.Model(x, tf.keras.layers.Dense(2)(x))
    rows = tf.sparse.SparseTensor(indices=[[0, 0], [1, 1]], values=[1.0, 1.0], dense_shape=(2, 4))
    assert model(rows).shape == (2, 2)


def test_zeros_that_are_stored() -> None:
    """a mask of what is stored, to tell explicit zeros from implicit ones"""
    st = tf.sparse.SparseTensor(indices=[[0, 0], [1, 1]], values=[0, 7], dense_shape=[2, 2])
    mask = tf.sparse.map_values(tf.ones_like, st)
    np.testing.assert_array_equal(tf.sparse.to_dense(mask), [[1, 0], [0, 1]])
