"""Exponential, trigonometric, hyperbolic and special functions, and complex numbers, element by element."""

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
    """`e ** x`."""
    return jnp.exp(as_floating(x))


@op
def expm1(x: Any) -> Any:
    """`exp(x) - 1`, accurate near 0."""
    return jnp.expm1(as_floating(x))


@op
def log(x: Any) -> Any:
    """The natural logarithm."""
    return jnp.log(as_floating(x))


@op
def log1p(x: Any) -> Any:
    """`log(1 + x)`, accurate near 0."""
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
    """The inverse sine."""
    return jnp.arcsin(as_floating(x))


@op
def acos(x: Any) -> Any:
    """The inverse cosine."""
    return jnp.arccos(as_floating(x))


@op
def atan(x: Any) -> Any:
    """The inverse tangent."""
    return jnp.arctan(as_floating(x))


@op
def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y), in (-pi, pi]."""
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
    """The inverse hyperbolic sine."""
    return jnp.arcsinh(as_floating(x))


@op
def acosh(x: Any) -> Any:
    """The inverse hyperbolic cosine."""
    return jnp.arccosh(as_floating(x))


@op
def atanh(x: Any) -> Any:
    """The inverse hyperbolic tangent."""
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
    """The inverse of :func:`erf`."""
    return special.erfinv(as_floating(x))


@op
def erfcinv(x: Any) -> Any:
    """The inverse of :func:`erfc`."""
    return special.erfinv(1 - as_floating(x))


@op
def ndtri(x: Any) -> Any:
    """The quantile function of the normal distribution."""
    return special.ndtri(as_floating(x))


@op
def lgamma(x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function."""
    return special.gammaln(as_floating(x))


@op
def digamma(x: Any) -> Any:
    """The derivative of :func:`lgamma`."""
    return special.digamma(as_floating(x))


@op
def polygamma(a: Any, x: Any) -> Any:
    """The ``a``-th derivative of :func:`digamma`."""
    return special.polygamma(as_array(a).astype(jnp.int32), as_floating(x))


@op
def zeta(x: Any, q: Any) -> Any:
    """The Hurwitz zeta function."""
    return special.zeta(as_floating(x), as_floating(q))


@op
def betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularized incomplete beta function."""
    return special.betainc(as_floating(a), as_floating(b), as_floating(x))


@op
def igamma(a: Any, x: Any) -> Any:
    """The lower regularized incomplete gamma function."""
    return special.gammainc(as_floating(a), as_floating(x))


@op
def igammac(a: Any, x: Any) -> Any:
    """The upper regularized incomplete gamma function."""
    return special.gammaincc(as_floating(a), as_floating(x))


@op
def lbeta(x: Any) -> Any:
    """The logarithm of the beta function along the last dim."""
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
    is_zero = x == 0
    return jnp.where(is_zero, jnp.zeros((), x.dtype), x / jnp.where(is_zero, jnp.ones((), y.dtype), y))


@op
def polyval(coeffs: Any, x: Any) -> Any:
    """Evaluates a polynomial; the coefficient of the highest power is first."""
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
    """The argument of complex numbers, in radians."""
    return jnp.angle(as_array(input))


@op
def complex(real: Any, imag: Any) -> Any:
    """Complex numbers from real and imaginary parts."""
    return jax.lax.complex(*jnp.broadcast_arrays(as_floating(real), as_floating(imag)))
