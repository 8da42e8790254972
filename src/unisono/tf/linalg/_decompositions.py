"""Inverses, determinants, solvers and decompositions of matrices in the last two dims."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._op import op
from unisono.tf._operands import as_floating, convert_operands
from unisono.tf.linalg._products import maybe_transpose


@op
def inv(input: Any, adjoint: bool = False) -> Any:
    """The inverse; of the adjoint if ``adjoint``."""
    return jnp.linalg.inv(maybe_transpose(as_floating(input), False, adjoint))


@op
def pinv(a: Any, rcond: Any = None, validate_args: bool = False) -> Any:
    """The Moore-Penrose pseudo-inverse."""
    return jnp.linalg.pinv(as_floating(a), rtol=rcond)


@op
def det(input: Any) -> Any:
    """The determinant."""
    return jnp.linalg.det(as_floating(input))


@op
def slogdet(input: Any) -> Any:
    """The sign of the determinant, and the logarithm of its absolute value."""
    return tuple(jnp.linalg.slogdet(as_floating(input)))


@op
def logdet(matrix: Any) -> Any:
    """The logarithm of the determinant of a positive definite matrix."""
    factor = _factorize(as_floating(matrix))
    return 2 * jnp.sum(jnp.log(jnp.real(jnp.diagonal(factor, axis1=-2, axis2=-1))), -1)


@op
def solve(matrix: Any, rhs: Any, adjoint: bool = False) -> Any:
    """Solves `matrix @ x = rhs`; with the adjoint of the matrix if ``adjoint``."""
    matrix, rhs = convert_operands(matrix, rhs)
    return jnp.linalg.solve(maybe_transpose(matrix, False, adjoint), rhs)


@op
def triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False) -> Any:
    """Solves `matrix @ x = rhs` for a triangular matrix."""
    matrix, rhs = convert_operands(matrix, rhs)
    return jax.lax.linalg.triangular_solve(
        matrix, rhs, left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint
    )


@op
def lstsq(matrix: Any, rhs: Any, l2_regularizer: float = 0.0, fast: bool = True) -> Any:
    """Solves `matrix @ x = rhs` by least squares, always by the normal equations: ``fast`` has no effect."""
    matrix, rhs = convert_operands(matrix, rhs)
    adjointed = jnp.swapaxes(matrix, -1, -2).conj()
    if matrix.shape[-2] >= matrix.shape[-1]:
        return jnp.linalg.solve(adjointed @ matrix + l2_regularizer * jnp.eye(matrix.shape[-1]), adjointed @ rhs)
    return adjointed @ jnp.linalg.solve(matrix @ adjointed + l2_regularizer * jnp.eye(matrix.shape[-2]), rhs)


@op
def cholesky(input: Any) -> Any:
    """The lower triangular Cholesky factor of a positive definite matrix; only its lower triangle is read."""
    return _factorize(as_floating(input))


@op
def cholesky_solve(chol: Any, rhs: Any) -> Any:
    """Solves `A @ x = rhs`, given the Cholesky factor of `A`."""
    chol, rhs = convert_operands(chol, rhs)
    return jax.scipy.linalg.cho_solve((chol, True), rhs)


@op
def qr(input: Any, full_matrices: bool = False) -> Any:
    """The QR decomposition: `q` is orthogonal, `r` upper triangular."""
    return tuple(jnp.linalg.qr(as_floating(input), "complete" if full_matrices else "reduced"))


@op
def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """The singular value decomposition in TensorFlow's order: s, u, v."""
    if not compute_uv:
        return jnp.linalg.svd(as_floating(tensor), full_matrices, compute_uv=False)
    u, s, vh = jnp.linalg.svd(as_floating(tensor), full_matrices)
    return s, u, jnp.swapaxes(vh, -1, -2).conj()


@op
def eigh(tensor: Any) -> Any:
    """The eigenvalues and eigenvectors of a self-adjoint matrix; only its lower triangle is read."""
    return tuple(jnp.linalg.eigh(as_floating(tensor), UPLO="L", symmetrize_input=False))


@op
def eigvalsh(tensor: Any) -> Any:
    """The eigenvalues of a self-adjoint matrix; only its lower triangle is read."""
    return jnp.linalg.eigvalsh(as_floating(tensor), UPLO="L")


@op
def expm(input: Any) -> Any:
    """The matrix exponential."""
    return jax.scipy.linalg.expm(as_floating(input))


@op
def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False) -> Any:
    """The rank."""
    return jnp.linalg.matrix_rank(as_floating(a), tol).astype(jnp.int32)


def _factorize(matrix: Any) -> Any:
    return jnp.linalg.cholesky(_mirror_lower(matrix), symmetrize_input=False)


@jax.custom_jvp
def _mirror_lower(matrix: Any) -> Any:
    """The self-adjoint matrix with this lower triangle. Its derivative is symmetric, as TensorFlow's is."""
    below = jnp.tril(matrix, -1)
    return jnp.tril(matrix) + jnp.swapaxes(below, -1, -2).conj()


_mirror_lower.defjvps(lambda tangent, _, matrix: (tangent + jnp.swapaxes(tangent, -1, -2).conj()) / 2)
