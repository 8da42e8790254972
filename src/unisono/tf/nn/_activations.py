"""Activation functions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._op import op
from unisono.tf._operands import as_floating, static_int
from unisono.tf._tensors import as_array
from unisono.tf.math import _tie_gradients as ties


@op
def relu(features: Any) -> Any:
    """`max(x, 0)`."""
    array = as_array(features)
    return jax.nn.relu(array).astype(array.dtype)


@op
def relu6(features: Any) -> Any:
    """`min(max(x, 0), 6)`."""
    return jax.nn.relu6(as_array(features))


@op
def crelu(features: Any, axis: Any = -1) -> Any:
    """Concatenates `relu(x)` and `relu(-x)` along ``axis``."""
    array = as_array(features)
    return jax.nn.relu(jnp.concatenate([array, -array], static_int(axis)))


@op
def leaky_relu(features: Any, alpha: Any = 0.2) -> Any:
    """`x`, and `alpha * x` where ``x`` is negative."""
    return ties.leaky_relu(as_floating(features), alpha)


@op
def elu(features: Any) -> Any:
    """`x`, and `exp(x) - 1` where ``x`` is negative."""
    return jax.nn.elu(as_floating(features))


@op
def selu(features: Any) -> Any:
    """Scaled exponential linear unit: keeps mean 0 and variance 1 through layers."""
    return ties.selu(as_floating(features))


@op
def gelu(features: Any, approximate: bool = False) -> Any:
    """`x` times the cumulative distribution function of the normal distribution at `x`."""
    return jax.nn.gelu(as_floating(features), approximate)


@op
def silu(features: Any, beta: Any = 1.0) -> Any:
    """`x * sigmoid(beta * x)`."""
    array = as_floating(features)
    return array * jax.nn.sigmoid(as_array(beta, array.dtype) * array)


@op
def softmax(logits: Any, axis: Any = None) -> Any:
    """The softmax along ``axis``; along the last dim if it is None."""
    return jax.nn.softmax(as_floating(logits), -1 if axis is None else static_int(axis))


@op
def log_softmax(logits: Any, axis: Any = None) -> Any:
    """The logarithm of :func:`softmax`."""
    return jax.nn.log_softmax(as_floating(logits), -1 if axis is None else static_int(axis))
