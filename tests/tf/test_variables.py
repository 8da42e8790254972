"""Variables as TensorFlow's scripts use them."""

import numpy as np
import pytest

import unisono.tf as tf


def test_a_variable_is_iterated_over_once() -> None:
    variable = tf.Variable([1.0, 2.0])
    first, second = variable
    assert [float(each) for each in variable] == [1.0, 2.0] == [float(first), float(second)]
    with pytest.raises(TypeError, match="0-d"):
        list(tf.Variable(1.0))


def test_a_variable_is_true_or_false() -> None:
    flag = tf.Variable(False)
    assert not flag
    flag.assign(True)
    assert flag
    assert (flag and 3) == 3


def test_assignments_return_the_variable() -> None:
    variable = tf.Variable(1.0)
    assert variable.assign_add(1.0).assign_sub(3.0) is variable
    assert variable.assign(5.0, use_locking=True).numpy() == 5.0
    assert variable.assign_add(1.0, read_value=False) is None
    kernel = tf.keras.layers.Dense(1)
    kernel.build((None, 1))
    assert kernel.kernel.assign([[3.0]], False, "name").numpy().tolist() == [[3.0]]


def test_assignments_are_chained_in_functions() -> None:
    variable = tf.Variable(1.0)

    @tf.function
    def change() -> tf.Tensor:
        variable.assign_add(4.0).assign_sub(1.0)
        return variable.assign_add(1.0, read_value=True)

    assert change().numpy() == 5.0
    assert variable.numpy() == 5.0


def test_integers_take_no_floats() -> None:
    counter = tf.Variable(1)
    for change in (
        lambda: tf.Variable(1.7, dtype=tf.int32),
        lambda: counter.assign(2.7),
        lambda: counter.assign_add(1.6),
        lambda: counter.assign_sub(tf.constant(1.6)),
    ):
        with pytest.raises(TypeError, match=r"tf\.cast"):
            change()
    assert counter.numpy() == 1
    assert tf.Variable(3, dtype=tf.float32).assign(2).numpy() == 2.0


def test_tensors_of_integers_take_no_floats() -> None:
    for value in (1.7, [1, 1.7], tf.constant(1.7), tf.Variable(1.7)):
        with pytest.raises(TypeError, match=r"tf\.cast"):
            tf.constant(value, tf.int32)
    assert tf.constant(2, tf.float32).numpy() == 2.0


def test_floats_of_numpy_become_integers() -> None:
    for value in (np.float64(2.5), np.float32(2.5), np.array(2.5)):
        assert tf.constant(value, tf.int32).numpy() == 2
        assert tf.Variable(1).assign(value).numpy() == 2


def test_the_gradient_of_parts_that_are_unpacked_is_that_of_the_variable() -> None:
    variable = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        first, second = variable
        y = first * first * second
    assert tape.gradient(y, variable).numpy().tolist() == [4.0, 1.0]
