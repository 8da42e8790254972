"""`tf.linalg`: products, norms, decompositions, diagonals."""

from unisono.tf._making import eye as eye
from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.linalg._decompositions import cholesky as cholesky
from unisono.tf.linalg._decompositions import cholesky_solve as cholesky_solve
from unisono.tf.linalg._decompositions import det as det
from unisono.tf.linalg._decompositions import eigh as eigh
from unisono.tf.linalg._decompositions import eigvalsh as eigvalsh
from unisono.tf.linalg._decompositions import expm as expm
from unisono.tf.linalg._decompositions import inv as inv
from unisono.tf.linalg._decompositions import logdet as logdet
from unisono.tf.linalg._decompositions import lstsq as lstsq
from unisono.tf.linalg._decompositions import matrix_rank as matrix_rank
from unisono.tf.linalg._decompositions import pinv as pinv
from unisono.tf.linalg._decompositions import qr as qr
from unisono.tf.linalg._decompositions import slogdet as slogdet
from unisono.tf.linalg._decompositions import solve as solve
from unisono.tf.linalg._decompositions import svd as svd
from unisono.tf.linalg._decompositions import triangular_solve as triangular_solve
from unisono.tf.linalg._diagonals import band_part as band_part
from unisono.tf.linalg._diagonals import diag as diag
from unisono.tf.linalg._diagonals import diag_part as diag_part
from unisono.tf.linalg._diagonals import set_diag as set_diag
from unisono.tf.linalg._diagonals import tensor_diag as tensor_diag
from unisono.tf.linalg._diagonals import tensor_diag_part as tensor_diag_part
from unisono.tf.linalg._diagonals import trace as trace
from unisono.tf.linalg._norms import global_norm as global_norm
from unisono.tf.linalg._norms import l2_normalize as l2_normalize
from unisono.tf.linalg._norms import norm as norm
from unisono.tf.linalg._norms import normalize as normalize
from unisono.tf.linalg._products import adjoint as adjoint
from unisono.tf.linalg._products import cross as cross
from unisono.tf.linalg._products import einsum as einsum
from unisono.tf.linalg._products import matmul as matmul
from unisono.tf.linalg._products import matrix_transpose as matrix_transpose
from unisono.tf.linalg._products import matvec as matvec
from unisono.tf.linalg._products import tensordot as tensordot

__getattr__ = _missing_in("tf.linalg")
