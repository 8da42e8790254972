"""Exponential, trigonometric, hyperbolic and special functions, and complex numbers, element by element.

Incomplete beta and gamma functions are the regularized ones, as in TensorFlow.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as special

from unisono.tf._op import define_op, op
from unisono.tf._operands import as_floating, convert_operands
from unisono.tf._tensors import as_array
from unisono.tf.math import _tie_gradients as ties

exp = define_op("exp", lambda x: jnp.exp(as_floating(x)), "`e ** x`.")
expm1 = define_op("expm1", lambda x: jnp.expm1(as_floating(x)), "`exp(x) - 1`, accurate near 0.")
log = define_op("log", lambda x: jnp.log(as_floating(x)), "The natural logarithm.")
log1p = define_op("log1p", lambda x: jnp.log1p(as_floating(x)), "`log(1 + x)`, accurate near 0.")
sin = define_op("sin", lambda x: jnp.sin(as_floating(x)), "The sine.")
cos = define_op("cos", lambda x: jnp.cos(as_floating(x)), "The cosine.")
tan = define_op("tan", lambda x: jnp.tan(as_floating(x)), "The tangent.")
asin = define_op("asin", lambda x: jnp.arcsin(as_floating(x)), "The inverse sine.")
acos = define_op("acos", lambda x: jnp.arccos(as_floating(x)), "The inverse cosine.")
atan = define_op("atan", lambda x: jnp.arctan(as_floating(x)), "The inverse tangent.")
sinh = define_op("sinh", lambda x: jnp.sinh(as_floating(x)), "The hyperbolic sine.")
cosh = define_op("cosh", lambda x: jnp.cosh(as_floating(x)), "The hyperbolic cosine.")
tanh = define_op("tanh", lambda x: jnp.tanh(as_floating(x)), "The hyperbolic tangent.")
asinh = define_op("asinh", lambda x: jnp.arcsinh(as_floating(x)), "The inverse hyperbolic sine.")
acosh = define_op("acosh", lambda x: jnp.arccosh(as_floating(x)), "The inverse hyperbolic cosine.")
atanh = define_op("atanh", lambda x: jnp.arctanh(as_floating(x)), "The inverse hyperbolic tangent.")
sigmoid = define_op("sigmoid", lambda x: jax.nn.sigmoid(as_floating(x)), "`1 / (1 + exp(-x))`.")
softplus = define_op("softplus", lambda features: jax.nn.softplus(as_floating(features)), "`log(1 + exp(x))`.")
softsign = define_op("softsign", lambda features: jax.nn.soft_sign(as_floating(features)), "`x / (1 + abs(x))`.")
erf = define_op("erf", lambda x: special.erf(as_floating(x)), "The error function.")
erfc = define_op("erfc", lambda x: special.erfc(as_floating(x)), "`1 - erf(x)`.")
erfinv = define_op("erfinv", lambda x: special.erfinv(as_floating(x)), "The inverse of :func:`erf`.")
erfcinv = define_op("erfcinv", lambda x: special.erfinv(1 - as_floating(x)), "The inverse of :func:`erfc`.")
digamma = define_op("digamma", lambda x: special.digamma(as_floating(x)), "The derivative of :func:`lgamma`.")
zeta = define_op("zeta", lambda x, q: special.zeta(as_floating(x), as_floating(q)), "The Hurwitz zeta function.")
bessel_i0 = define_op("bessel_i0", lambda x: special.i0(as_floating(x)), "The modified Bessel function of order 0.")
bessel_i0e = define_op("bessel_i0e", lambda x: special.i0e(as_floating(x)), "`exp(-abs(x)) * bessel_i0(x)`.")
bessel_i1 = define_op("bessel_i1", lambda x: special.i1(as_floating(x)), "The modified Bessel function of order 1.")
bessel_i1e = define_op("bessel_i1e", lambda x: special.i1e(as_floating(x)), "`exp(-abs(x)) * bessel_i1(x)`.")
real = define_op("real", lambda input: jnp.real(as_array(input)), "The real part.")
imag = define_op("imag", lambda input: jnp.imag(as_array(input)), "The imaginary part.")
conj = define_op("conj", lambda x: jnp.conj(as_array(x)), "The complex conjugate.")
angle = define_op("angle", lambda input: jnp.angle(as_array(input)), "The argument of complex numbers, in radians.")
atan2 = define_op("atan2", lambda y, x: jnp.arctan2(*convert_operands(y, x)), "The angle of the point (x, y).")
ndtri = define_op("ndtri", lambda x: special.ndtri(as_floating(x)), "The normal quantile function.")
lgamma = define_op("lgamma", lambda x: special.gammaln(as_floating(x)), "`log(abs(gamma(x)))`.")
xlogy = define_op("xlogy", lambda x, y: ties.xlogy(*convert_operands(x, y)), "`x * log(y)`; 0 if x is 0.")
log_sigmoid = define_op("log_sigmoid", lambda x: jax.nn.log_sigmoid(as_floating(x)), "`log(sigmoid(x))`.")
igamma = define_op("igamma", lambda a, x: special.gammainc(as_floating(a), as_floating(x)), "Lower incomplete gamma.")
igammac = define_op("igammac", lambda a, x: special.gammaincc(as_floating(a), as_floating(x)), "`1 - igamma(a, x)`.")
xlog1py = define_op("xlog1py", lambda x, y: ties.xlog1py(*convert_operands(x, y)), "`x * log1p(y)`; 0 if x is 0.")


@op
def polygamma(a: Any, x: Any) -> Any:
    """The ``a``-th derivative of :func:`digamma`."""
    return special.polygamma(as_array(a).astype(jnp.int32), as_floating(x))


@op
def betainc(a: Any, b: Any, x: Any) -> Any:
    """The incomplete beta function."""
    return special.betainc(as_floating(a), as_floating(b), as_floating(x))


@op
def lbeta(x: Any) -> Any:
    """The logarithm of the beta function along the last dim."""
    x = as_floating(x)
    return jnp.sum(special.gammaln(x), -1) - special.gammaln(jnp.sum(x, -1))


@op
def xdivy(x: Any, y: Any) -> Any:
    """`x / y`, and 0 where ``x`` is 0."""
    return ties.xdivy(*convert_operands(x, y))


@op
def polyval(coeffs: Any, x: Any) -> Any:
    """Evaluates a polynomial; the coefficient of the highest power is first."""
    x = as_array(x)
    total = jnp.zeros_like(x)
    for coefficient in coeffs:
        total = total * x + as_array(coefficient, x.dtype)
    return total


@op
def complex(real: Any, imag: Any) -> Any:
    """Complex numbers from real and imaginary parts."""
    return jax.lax.complex(*jnp.broadcast_arrays(as_floating(real), as_floating(imag)))
