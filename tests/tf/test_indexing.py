"""Indices out of range, negative ones included: no other element is read or written."""

import numpy as np
import pytest

import unisono.tf as tf

TABLE = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def test_a_slice_has_to_be_inside() -> None:
    numbers = tf.range(5)
    assert tf.slice(numbers, [3], [2]).numpy().tolist() == [3, 4]
    assert tf.slice(numbers, [3], [-1]).numpy().tolist() == [3, 4]
    for begin, size in (([3], [4]), ([-1], [1]), ([6], [-1])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="dim 0 has 5 elements"):
            tf.slice(numbers, begin, size)
    with pytest.raises(tf.errors.InvalidArgumentError, match="dim 0 has 2 elements"):
        tf.slice(["a", "b"], [1], [2])
    assert tf.function(lambda x, i: tf.slice(x, i, [2]))(numbers, tf.constant([1])).numpy().tolist() == [1, 2]
    assert tf.keras.layers.Lambda(lambda x: tf.slice(x, [0, 1], [-1, 2]))(tf.keras.Input((3,))).shape == (None, 2)


@pytest.mark.parametrize("dtype", [tf.int8, tf.int32, tf.int64])
def test_indices_out_of_range_give_zeros(dtype: tf.DType) -> None:
    indices = tf.constant([-1, 2, 3], dtype)
    expected = [[0.0, 0.0], [5.0, 6.0], [0.0, 0.0]]
    assert tf.gather(TABLE, indices).numpy().tolist() == expected
    assert tf.gather_nd(TABLE, indices[:, None]).numpy().tolist() == expected
    assert tf.nn.embedding_lookup(tf.constant(TABLE), indices).numpy().tolist() == expected
    assert tf.Variable(TABLE).sparse_read(indices).numpy().tolist() == expected
    assert tf.gather_nd(TABLE, [[[0, 1]], [[-1, 0]]]).numpy().tolist() == [[2.0], [0.0]]


def test_indices_of_text_have_to_be_inside() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="of 2 values"):
        tf.gather(["a", "b"], [-1])
    for index in ([-1, 0], [0, 2]):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"of \(1, 2\) values"):
            tf.gather_nd([["a", "b"]], [index])
    assert tf.gather_nd([["a", "b"]], [[0, 1]]).numpy().tolist() == [b"b"]


def test_updates_out_of_range_are_left_out() -> None:
    assert tf.scatter_nd([[-1], [1], [3]], [1, 2, 3], [3]).numpy().tolist() == [0, 2, 0]
    assert tf.tensor_scatter_nd_update([0, 0, 0], [[-1], [1]], [1, 2]).numpy().tolist() == [0, 2, 0]
    variable = tf.Variable([0, 0, 0])
    variable.scatter_nd_update([[-1], [1]], [1, 2])
    variable.scatter_add(tf.IndexedSlices(tf.constant([1, 5]), tf.constant([-1, 0])))
    assert variable.numpy().tolist() == [5, 2, 0]


def test_the_loss_of_a_label_that_is_no_class_is_nan() -> None:
    logits = tf.constant([[1.0, 2.0, 3.0]] * 3)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits([-1, 2, 3], logits)
    assert np.isnan(losses).tolist() == [True, False, True]
    assert np.isnan(tape.gradient(losses, logits)).all(1).tolist() == [True, False, True]


@pytest.mark.parametrize("dtype", [tf.int8, tf.uint8])
def test_small_integers_are_labels_of_many_classes(dtype: tf.DType) -> None:
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.constant([120], dtype), tf.zeros([1, 1000]))
    np.testing.assert_allclose(loss, np.log(1000.0), rtol=1e-6)


def test_negative_numbers_are_not_counted() -> None:
    assert tf.math.bincount([-1, 1]).numpy().tolist() == [0, 1]
    assert tf.math.confusion_matrix([0, 1], [1, -1], 2).numpy().tolist() == [[0, 1], [0, 0]]


def test_all_numbers_are_counted_together_or_row_by_row() -> None:
    numbers = [[1, 1], [0, 2]]
    assert tf.math.bincount(numbers, axis=0).numpy().tolist() == [1, 2, 1]
    assert tf.math.bincount(numbers, axis=-1).numpy().tolist() == [[0, 2, 0], [1, 0, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="axis is 1"):
        tf.math.bincount(numbers, axis=1)
