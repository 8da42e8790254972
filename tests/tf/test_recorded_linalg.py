"""`tf.linalg`, compared with recorded results of TensorFlow."""

import unisono.tf as tf
from tests.tf.recording import random_numbers, recorded


@recorded(tolerance=1e-4)
def test_products():
    a, b, v = (
        tf.constant(random_numbers(2, 3)),
        tf.constant(random_numbers(3, 2, seed=1)),
        tf.constant(random_numbers(3, seed=2)),
    )
    return {
        "matmul": [tf.matmul(a, b), tf.linalg.matmul(a, a, transpose_b=True), tf.matmul(a, a, transpose_a=True)],
        "batch": tf.matmul(tf.constant(random_numbers(2, 3, 4)), tf.constant(random_numbers(2, 4, 1))),
        "matvec": tf.linalg.matvec(a, v),
        "tensordot": [tf.tensordot(a, b, 1), tf.linalg.tensordot(a, b, [[0], [1]])],
        "einsum": [tf.einsum("ij,jk->ik", a, b), tf.linalg.einsum("ij->j", a)],
        "cross": tf.linalg.cross([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]),
        "transposed": [tf.linalg.matrix_transpose(a), tf.linalg.adjoint(tf.complex(a, a))],
        "trace": tf.linalg.trace([[1.0, 2.0], [3.0, 4.0]]),
    }


@recorded(tolerance=1e-4)
def test_norms():
    a = tf.constant(random_numbers(2, 3))
    unit, length = tf.linalg.normalize(a, axis=1)
    return {
        "norm": [tf.norm(a), tf.linalg.norm(a, axis=1), tf.norm(a, ord=1), tf.norm(a, axis=0, keepdims=True)],
        "matrix": tf.norm(a, ord="fro", axis=[0, 1]),
        "unit": [unit, length],
        "l2": [tf.math.l2_normalize(a, axis=1), tf.nn.l2_normalize(a), tf.linalg.l2_normalize(a, axis=0)],
        "global": tf.linalg.global_norm([a, tf.ones([2])]),
    }


@recorded(tolerance=1e-3)
def test_decompositions():
    a = tf.constant(random_numbers(3, 3))
    p = tf.matmul(a, a, transpose_b=True) + 3 * tf.eye(3)
    s, u, v = tf.linalg.svd(a)
    q, r = tf.linalg.qr(a)
    values, vectors = tf.linalg.eigh(p)
    factor = tf.linalg.cholesky(p)
    sign, logarithm = tf.linalg.slogdet(a)
    return {
        "inv": [tf.linalg.inv(p), tf.linalg.pinv(a[:, :2]), tf.linalg.det(p)],
        "solve": [tf.linalg.solve(p, a), tf.linalg.cholesky_solve(factor, a), tf.linalg.lstsq(p, a)],
        "triangular": tf.linalg.triangular_solve(factor, a),
        "cholesky": factor,
        "logdet": [tf.linalg.logdet(p), sign, logarithm],
        "svd": [s, tf.matmul(u * s, v, transpose_b=True), tf.linalg.svd(a, compute_uv=False)],
        "qr": [tf.matmul(q, r), tf.abs(r)],
        "eigh": [values, tf.abs(vectors), tf.linalg.eigvalsh(p)],
        "expm": tf.linalg.expm(a),
        "rank": tf.linalg.matrix_rank(a),
    }


@recorded
def test_diagonals():
    a = tf.reshape(tf.range(9), [3, 3])
    return {
        "diag": [tf.linalg.diag([1, 2]), tf.linalg.diag([1, 2], k=1)],
        "part": [tf.linalg.diag_part(a), tf.linalg.diag_part(a, k=1)],
        "tensor": [tf.linalg.tensor_diag([1, 2]), tf.linalg.tensor_diag_part(a)],
        "set": tf.linalg.set_diag(a, [9, 9, 9]),
        "band": [tf.linalg.band_part(a, 1, 0), tf.linalg.band_part(a, -1, 0), tf.linalg.band_part(a, 0, 1)],
        "eye": tf.linalg.eye(2),
    }
