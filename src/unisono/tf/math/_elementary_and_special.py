"""Exponentials, angles and special functions, element by element."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as special

from unisono.tf._op import op
from unisono.tf._operands import as_floating, convert_operands
from unisono.tf._tensors import as_array


@op
def exp(x: Any) -> Any:
    """e to the power ``x``."""
    return jnp.exp(as_floating(x))


@op
def expm1(x: Any) -> Any:
    """`exp(x) - 1`, exact for small numbers."""
    return jnp.expm1(as_floating(x))


@op
def log(x: Any) -> Any:
    """The natural logarithm."""
    return jnp.log(as_floating(x))


@op
def log1p(x: Any) -> Any:
    """`log(1 + x)`, exact for small numbers."""
    return jnp.log1p(as_floating(x))


@op
def sin(x: Any) -> Any:
    """The sine."""
    return jnp.sin(as_floating(x))


@op
def cos(x: Any) -> Any:
    """The cosine."""
    return jnp.cos(as_floating(x))


@op
def tan(x: Any) -> Any:
    """The tangent."""
    return jnp.tan(as_floating(x))


@op
def asin(x: Any) -> Any:
    """The angle with this sine."""
    return jnp.arcsin(as_floating(x))


@op
def acos(x: Any) -> Any:
    """The angle with this cosine."""
    return jnp.arccos(as_floating(x))


@op
def atan(x: Any) -> Any:
    """The angle with this tangent."""
    return jnp.arctan(as_floating(x))


@op
def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y)."""
    return jnp.arctan2(*convert_operands(y, x))


@op
def sinh(x: Any) -> Any:
    """The hyperbolic sine."""
    return jnp.sinh(as_floating(x))


@op
def cosh(x: Any) -> Any:
    """The hyperbolic cosine."""
    return jnp.cosh(as_floating(x))


@op
def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return jnp.tanh(as_floating(x))


@op
def asinh(x: Any) -> Any:
    """The number with this hyperbolic sine."""
    return jnp.arcsinh(as_floating(x))


@op
def acosh(x: Any) -> Any:
    """The number with this hyperbolic cosine."""
    return jnp.arccosh(as_floating(x))


@op
def atanh(x: Any) -> Any:
    """The number with this hyperbolic tangent."""
    return jnp.arctanh(as_floating(x))


@op
def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))`."""
    return jax.nn.sigmoid(as_floating(x))


@op
def log_sigmoid(x: Any) -> Any:
    """The logarithm of :func:`sigmoid`."""
    return jax.nn.log_sigmoid(as_floating(x))


@op
def softplus(features: Any) -> Any:
    """`log(1 + exp(x))`."""
    return jax.nn.softplus(as_floating(features))


@op
def softsign(features: Any) -> Any:
    """`x / (1 + abs(x))`."""
    return jax.nn.soft_sign(as_floating(features))


@op
def erf(x: Any) -> Any:
    """The error function."""
    return special.erf(as_floating(x))


@op
def erfc(x: Any) -> Any:
    """`1 - erf(x)`."""
    return special.erfc(as_floating(x))


@op
def erfinv(x: Any) -> Any:
    """The number whose :func:`erf` it is."""
    return special.erfinv(as_floating(x))


@op
def erfcinv(x: Any) -> Any:
    """The number whose :func:`erfc` it is."""
    return special.erfinv(1 - as_floating(x))


@op
def ndtri(x: Any) -> Any:
    """The quantile of the normal distribution."""
    return special.ndtri(as_floating(x))


@op
def lgamma(x: Any) -> Any:
    """The logarithm of the gamma function's absolute value."""
    return special.gammaln(as_floating(x))


@op
def digamma(x: Any) -> Any:
    """The derivative of :func:`lgamma`."""
    return special.digamma(as_floating(x))


@op
def polygamma(a: Any, x: Any) -> Any:
    """The derivative number ``a`` of :func:`digamma`."""
    return special.polygamma(as_array(a).astype(jnp.int32), as_floating(x))


@op
def zeta(x: Any, q: Any) -> Any:
    """Hurwitz's zeta function."""
    return special.zeta(as_floating(x), as_floating(q))


@op
def betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularised incomplete beta function."""
    return special.betainc(as_floating(a), as_floating(b), as_floating(x))


@op
def igamma(a: Any, x: Any) -> Any:
    """The lower regularised incomplete gamma function."""
    return special.gammainc(as_floating(a), as_floating(x))


@op
def igammac(a: Any, x: Any) -> Any:
    """The upper regularised incomplete gamma function."""
    return special.gammaincc(as_floating(a), as_floating(x))


@op
def lbeta(x: Any) -> Any:
    """The logarithm of the beta function of the numbers along the last dim."""
    x = as_floating(x)
    return jnp.sum(special.gammaln(x), -1) - special.gammaln(jnp.sum(x, -1))


@op
def bessel_i0(x: Any) -> Any:
    """The modified Bessel function of order 0."""
    return special.i0(as_floating(x))


@op
def bessel_i0e(x: Any) -> Any:
    """`exp(-abs(x)) * bessel_i0(x)`."""
    return special.i0e(as_floating(x))


@op
def bessel_i1(x: Any) -> Any:
    """The modified Bessel function of order 1."""
    return special.i1(as_floating(x))


@op
def bessel_i1e(x: Any) -> Any:
    """`exp(-abs(x)) * bessel_i1(x)`."""
    return special.i1e(as_floating(x))


@op
def xlogy(x: Any, y: Any) -> Any:
    """`x * log(y)`, and 0 where ``x`` is 0."""
    return special.xlogy(*convert_operands(x, y))


@op
def xlog1py(x: Any, y: Any) -> Any:
    """`x * log(1 + y)`, and 0 where ``x`` is 0."""
    return special.xlog1py(*convert_operands(x, y))


@op
def xdivy(x: Any, y: Any) -> Any:
    """`x / y`, and 0 where ``x`` is 0."""
    x, y = convert_operands(x, y)
    zero = x == 0
    return jnp.where(zero, jnp.zeros((), x.dtype), x / jnp.where(zero, jnp.ones((), y.dtype), y))


@op
def polyval(coeffs: Any, x: Any) -> Any:
    """The value of a polynomial; the coefficient of the highest power comes first."""
    x = as_array(x)
    total = jnp.zeros_like(x)
    for coefficient in coeffs:
        total = total * x + as_array(coefficient, x.dtype)
    return total


@op
def real(input: Any) -> Any:
    """The real part."""
    return jnp.real(as_array(input))


@op
def imag(input: Any) -> Any:
    """The imaginary part."""
    return jnp.imag(as_array(input))


@op
def conj(x: Any) -> Any:
    """The complex conjugate."""
    return jnp.conj(as_array(x))


@op
def angle(input: Any) -> Any:
    """The angle of complex numbers."""
    return jnp.angle(as_array(input))


@op
def complex(real: Any, imag: Any) -> Any:
    """Complex numbers of two parts."""
    return jax.lax.complex(*jnp.broadcast_arrays(as_floating(real), as_floating(imag)))
