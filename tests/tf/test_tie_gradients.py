"""Derivatives at ties and at zero are TensorFlow's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unisono.tf as tf

CASES: list[tuple[Callable[[Any], Any], Any, Any]] = [
    (lambda p: tf.math.xlogy(p, p), 0.0, 0.0),
    (lambda x: tf.math.xlogy(x, 2.0), 0.0, 0.0),
    (lambda y: tf.math.xlogy(3.0, y), 2.0, 1.5),
    (lambda x: tf.math.xlog1py(x, 2.0), 0.0, 0.0),
    (lambda y: tf.math.xlog1py(0.0, y), -1.0, 0.0),
    (tf.abs, [-2.0, 0.0, 3.0], [-1.0, 0.0, 1.0]),
    (lambda x: tf.maximum(x, 0.0), [-1.0, 0.0, 1.0], [0.0, 1.0, 1.0]),
    (lambda x: tf.maximum(0.0, x), [-1.0, 0.0, 1.0], [0.0, 0.0, 1.0]),
    (lambda x: tf.minimum(x, 0.0), [-1.0, 0.0, 1.0], [1.0, 1.0, 0.0]),
    (lambda x: tf.clip_by_value(x, 0.0, 1.0), [-1.0, 0.0, 0.5, 1.0, 2.0], [0.0, 1.0, 1.0, 1.0, 0.0]),
    (tf.nn.leaky_relu, [-1.0, 0.0, 1.0], [0.2, 0.2, 1.0]),
    (tf.nn.selu, [0.0, 100.0], [1.050701, 1.050701]),
    (lambda y: tf.math.multiply_no_nan(3.0, y), 0.0, 3.0),
    (lambda x: tf.nn.sigmoid_cross_entropy_with_logits([0.0, 1.0], x), [0.0, 0.0], [0.5, -0.5]),
    (lambda x: tf.clip_by_norm(x, 5.0), [3.0, 4.0], [0.16, -0.12]),
    (lambda x: tf.compat.v1.losses.absolute_difference(1.0, x), 1.0, 0.0),
    (lambda x: tf.image.total_variation(tf.reshape(tf.stack([x, 0.0, 0.0, 0.0]), (2, 2, 1))), 0.0, 0.0),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_derivative_is_that_of_tensorflow(case: int) -> None:
    function, point, expected = CASES[case]
    x = tf.constant(point)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    np.testing.assert_allclose(tape.gradient(y, x), expected, rtol=1e-6)
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = function(x)
    np.testing.assert_allclose(accumulator.jvp(y), expected, rtol=1e-6)


def test_an_infinite_factor_gives_no_nan() -> None:
    y = tf.constant(0.0)
    with tf.GradientTape() as tape:
        tape.watch(y)
        product = tf.math.multiply_no_nan(float("inf"), y)
    assert (product.numpy(), tape.gradient(product, y).numpy()) == (0.0, 0.0)  # TensorFlow's gradient is infinite


def test_second_derivatives_exist() -> None:
    x = tf.constant([0.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.math.xlogy(x, x) + tf.nn.selu(-x) + tf.abs(x) * tf.maximum(x, 1.0)
        first = inner.gradient(y, x)
    expected = [0.0, 0.5 + 1.7580993 * np.exp(-2.0) + 2.0]
    np.testing.assert_allclose(outer.gradient(first, x), expected, rtol=1e-5)


def test_values_of_other_dtypes_are_as_before() -> None:
    assert tf.maximum([1, 5], 2).numpy().tolist() == [2, 5]
    assert tf.maximum(tf.constant([1, 2]), 1.5).numpy().tolist() == [1.5, 2.0]
    assert tf.abs(tf.constant([3.0 + 4.0j])).numpy().tolist() == [5.0]
    assert tf.math.multiply_no_nan([1, 2], [0, 3]).numpy().tolist() == [0, 6]
    assert np.isnan(tf.maximum(float("nan"), 1.0))
    assert tf.clip_by_value([1.0, 2.0], 3.0, 0.0).numpy().tolist() == [3.0, 3.0]
