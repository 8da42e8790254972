"""Linear algebra: what is read of a matrix, and derivatives."""

import numpy as np

import unisono.tf as tf


def test_cholesky_reads_the_lower_triangle() -> None:
    matrix = tf.constant([[4.0, 100.0], [2.0, 3.0]])
    np.testing.assert_allclose(tf.linalg.cholesky(matrix), [[2.0, 0.0], [1.0, np.sqrt(2.0)]], rtol=1e-6)
    np.testing.assert_allclose(tf.linalg.logdet(matrix), np.log(8.0), rtol=1e-6)


def test_the_derivative_of_logdet_is_the_symmetric_inverse() -> None:
    matrix = tf.constant([[4.0, 2.0], [2.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(matrix)
        y = tf.linalg.logdet(matrix)
    np.testing.assert_allclose(tape.gradient(y, matrix), np.linalg.inv(matrix), rtol=1e-5)
