"""guide/variable: Introduction to variables."""

import numpy as np
import pytest

import unisono.tf as tf


def test_creating() -> None:
    """from tensors, booleans and complex numbers; shape, dtype, numpy()"""
    variable = tf.Variable(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    assert variable.shape == (2, 2)
    assert variable.dtype == tf.float32
    assert isinstance(variable.numpy(), np.ndarray)
    assert tf.Variable([False, False, False, True]).numpy()[3]
    assert tf.Variable([5 + 4j, 6 + 1j]).dtype == tf.complex64


def test_used_as_a_tensor() -> None:
    """convert_to_tensor, math.argmax, reshape to a new tensor"""
    variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    assert tf.is_tensor(tf.convert_to_tensor(variable))
    np.testing.assert_array_equal(tf.math.argmax(variable), [1, 1])
    assert tf.reshape(variable, [1, 4]).shape == (1, 4)
    assert variable.shape == (2, 2)


def test_assigning() -> None:
    """assign keeps the shape and refuses others; copies are separate; assign_add and assign_sub"""
    a = tf.Variable([2.0, 3.0])
    a.assign([1, 2])
    with pytest.raises(ValueError, match="shape"):
        a.assign([1.0, 2.0, 3.0])
    b = tf.Variable(a)
    a.assign([5, 6])
    np.testing.assert_array_equal(b.numpy(), [1, 2])
    np.testing.assert_array_equal(a.assign_add([2, 3]).numpy(), [7, 9])
    np.testing.assert_array_equal(a.assign_sub([7, 9]).numpy(), [0, 0])


def test_names_trainable_and_devices() -> None:
    """name, comparison of values, trainable=False, tf.device"""
    a, b = tf.Variable([[1.0, 2.0]], name="Mark"), tf.Variable([[1.0, 2.0]], name="Mark")
    assert "Mark" in a.name
    np.testing.assert_array_equal(a == b, [[True, True]])
    assert not tf.Variable(1, trainable=False).trainable
    with tf.device("CPU:0"):
        x = tf.Variable([[1.0, 2.0, 3.0]])
        y = tf.constant([[1.0], [2.0], [3.0]])
    with tf.device("CPU:0"):
        np.testing.assert_allclose(tf.matmul(x, y), [[14.0]])
