"""Activations."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._op import op
from unisono.tf._operands import as_floating, static_int
from unisono.tf._tensors import as_array


@op
def relu(features: Any) -> Any:
    """The number, and 0 for negative ones."""
    array = as_array(features)
    return jax.nn.relu(array).astype(array.dtype)


@op
def relu6(features: Any) -> Any:
    """:func:`relu`, at most 6."""
    return jax.nn.relu6(as_array(features))


@op
def crelu(features: Any, axis: Any = -1) -> Any:
    """:func:`relu` of the numbers and of their negatives, one after the other."""
    array = as_array(features)
    return jax.nn.relu(jnp.concatenate([array, -array], static_int(axis)))


@op
def leaky_relu(features: Any, alpha: Any = 0.2) -> Any:
    """The number, and ``alpha`` times the number for negative ones."""
    return jax.nn.leaky_relu(as_floating(features), alpha)


@op
def elu(features: Any) -> Any:
    """The number, and `exp(x) - 1` for negative ones."""
    return jax.nn.elu(as_floating(features))


@op
def selu(features: Any) -> Any:
    """:func:`elu`, scaled so that means and variances stay as they are."""
    return jax.nn.selu(as_floating(features))


@op
def gelu(features: Any, approximate: bool = False) -> Any:
    """The number times the probability that a normal variable is smaller."""
    return jax.nn.gelu(as_floating(features), approximate)


@op
def silu(features: Any, beta: Any = 1.0) -> Any:
    """`x * sigmoid(beta * x)`."""
    array = as_floating(features)
    return array * jax.nn.sigmoid(as_array(beta, array.dtype) * array)


@op
def softmax(logits: Any, axis: Any = None) -> Any:
    """Probabilities along ``axis``; the last dim if it is None."""
    return jax.nn.softmax(as_floating(logits), -1 if axis is None else static_int(axis))


@op
def log_softmax(logits: Any, axis: Any = None) -> Any:
    """The logarithms of :func:`softmax`."""
    return jax.nn.log_softmax(as_floating(logits), -1 if axis is None else static_int(axis))
