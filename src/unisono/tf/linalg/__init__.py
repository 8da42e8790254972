"""`tf.linalg`: products, norms, decompositions, solvers and diagonals of matrices."""

from unisono.tf._creation_ops import eye
from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.linalg._decompositions import (
    cholesky, cholesky_solve, det, eigh, eigvalsh, expm, inv, logdet, lstsq, matrix_rank, pinv, qr, slogdet, solve, svd,
    triangular_solve,
)
from unisono.tf.linalg._diagonals import band_part, diag, diag_part, set_diag, tensor_diag, tensor_diag_part, trace
from unisono.tf.linalg._norms import global_norm, l2_normalize, norm, normalize
from unisono.tf.linalg._products import adjoint, cross, einsum, matmul, matrix_transpose, matvec, tensordot

__getattr__ = _explain_missing_names("tf.linalg")
