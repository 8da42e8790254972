"""Loss functions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import keras

from unisono.tf._op import op
from unisono.tf._operands import as_floating, static_int
from unisono.tf._tensors import as_array


@op
def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: Any = -1) -> Any:
    """The cross-entropy of each row; ``labels`` are probabilities."""
    logits = as_floating(logits)
    labels = as_array(labels).astype(logits.dtype)
    return -jnp.sum(labels * jax.nn.log_softmax(logits, static_int(axis)), static_int(axis))


@op
def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any) -> Any:
    """The cross-entropy of each row; ``labels`` are class indices. NaN for labels that are no class."""
    logits, labels = as_floating(logits), as_array(labels)
    if labels.ndim != logits.ndim - 1:
        raise ValueError(
            f"tf.nn.sparse_softmax_cross_entropy_with_logits: labels have the shape {tuple(labels.shape)}, logits "
            f"{tuple(logits.shape)}. Expected one dim less in labels: a class index for each row."
        )
    scores = jax.nn.log_softmax(logits, -1)
    labels = labels.astype(jnp.int32)  # before it is compared: int8 has no 999
    classes = jnp.clip(labels, 0, logits.shape[-1] - 1)
    losses = -jnp.take_along_axis(scores, classes[..., None], -1)[..., 0]
    return losses * jnp.where(classes == labels, 1, jnp.nan).astype(losses.dtype)  # a factor: gradients are NaN, too


@op
def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None) -> Any:
    """The cross-entropy of each element; ``labels`` are probabilities."""
    logits = as_floating(logits)
    labels = as_array(labels).astype(logits.dtype)
    is_positive = logits >= 0  # not by maximum and abs, whose derivatives at 0 do not add up to sigmoid(0) - label
    negative = jnp.where(is_positive, -logits, logits)
    return jnp.where(is_positive, logits, 0) - logits * labels + jnp.log1p(jnp.exp(negative))


@op
def weighted_cross_entropy_with_logits(labels: Any, logits: Any, pos_weight: Any) -> Any:
    """:func:`sigmoid_cross_entropy_with_logits` with the positive term multiplied by ``pos_weight``."""
    logits = as_floating(logits)
    labels = as_array(labels).astype(logits.dtype)
    weight = 1 + (as_array(pos_weight, logits.dtype) - 1) * labels
    return (1 - labels) * logits + weight * (jnp.log1p(jnp.exp(-jnp.abs(logits))) + jax.nn.relu(-logits))


@op
def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False) -> Any:
    """The Poisson loss; ``log_input`` is the predicted logarithm of the counts ``targets``."""
    targets, log_input = as_floating(targets), as_floating(log_input)
    loss = jnp.exp(log_input) - log_input * targets
    if not compute_full_loss:
        return loss
    stirling = targets * jnp.log(targets) - targets + 0.5 * jnp.log(2 * jnp.pi * targets)
    return loss + jnp.where((targets >= 0) & (targets <= 1), 0.0, stirling)


@op
def l2_loss(t: Any) -> Any:
    """Half of the sum of squares."""
    return jnp.sum(jnp.square(as_floating(t))) / 2


@op
def ctc_loss(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = 0,
) -> Any:
    """The CTC loss (connectionist temporal classification). ``labels`` is a dense matrix, not a SparseTensor."""
    logits = as_floating(logits)
    if logits_time_major:
        logits = jnp.swapaxes(logits, 0, 1)
    mask = 0 if blank_index is None else int(blank_index) % logits.shape[-1]
    return keras.ops.ctc_loss(as_array(labels), logits, as_array(label_length), as_array(logit_length), mask_index=mask)
