"""`tf.compat.v1.losses`: losses with weights, reduced to one number. They are not collected."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._operands import as_floating
from unisono.tf._tensors import as_array
from unisono.tf.math import _tie_gradients as ties
from unisono.tf.nn import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)

UNKNOWN_REDUCTION = "tf.compat.v1.losses: reduction is {reduction!r}. Expected one of {known}."


class Reduction:
    """How losses become one number."""

    NONE: Final = "none"
    SUM: Final = "weighted_sum"
    SUM_OVER_BATCH_SIZE: Final = "weighted_sum_over_batch_size"
    MEAN: Final = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS: Final = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS: Final = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All reductions."""
        return cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_BY_NONZERO_WEIGHTS


_DEFAULT: Final = Reduction.SUM_BY_NONZERO_WEIGHTS


def compute_weighted_loss(
    losses: Any, weights: Any = 1.0, scope: Any = None, loss_collection: Any = None, reduction: str = _DEFAULT
) -> Any:
    """Multiplies losses by weights, and reduces them.

    >>> float(compute_weighted_loss([2.0, 4.0, 6.0], [1.0, 1.0, 0.0]))
    3.0
    """
    values = as_floating(losses)
    factors = as_array(weights).astype(values.dtype)
    if 0 < factors.ndim < values.ndim:
        factors = factors.reshape(factors.shape + (1,) * (values.ndim - factors.ndim))
    weighted = values * factors
    if reduction == Reduction.NONE:
        return weighted
    total, spread = jnp.sum(weighted), jnp.broadcast_to(factors, weighted.shape)
    if reduction == Reduction.SUM:
        return total
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        return total / weighted.size
    if reduction == Reduction.MEAN:
        return _divide(total, jnp.sum(spread))
    if reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        return _divide(total, jnp.sum((spread != 0).astype(values.dtype)))
    raise ValueError(UNKNOWN_REDUCTION.format(reduction=reduction, known=Reduction.all()))


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = None,
    reduction: str = _DEFAULT,
) -> Any:
    """The mean of the squared differences."""
    first, second = _same_shape(labels, predictions)
    return compute_weighted_loss(jnp.square(second - first), weights, reduction=reduction)


def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = None,
    reduction: str = _DEFAULT,
) -> Any:
    """The mean of the absolute differences."""
    first, second = _same_shape(labels, predictions)
    return compute_weighted_loss(ties.abs(second - first), weights, reduction=reduction)


def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: Any = None,
    loss_collection: Any = None,
    reduction: str = _DEFAULT,
) -> Any:
    """Half the squared difference where it is less than ``delta``, and linear beyond."""
    first, second = _same_shape(labels, predictions)
    distance = jnp.abs(second - first)
    near = jnp.minimum(distance, delta)
    return compute_weighted_loss(0.5 * near * near + delta * (distance - near), weights, reduction=reduction)


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: Any = None,
    loss_collection: Any = None,
    reduction: str = _DEFAULT,
) -> Any:
    """The cross-entropy of probabilities."""
    first, second = _same_shape(labels, predictions)
    values = -first * jnp.log(second + epsilon) - (1 - first) * jnp.log(1 - second + epsilon)
    return compute_weighted_loss(values, weights, reduction=reduction)


def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = None,
    reduction: str = _DEFAULT,
) -> Any:
    """The hinge loss of labels 0 and 1."""
    first, second = _same_shape(labels, logits)
    return compute_weighted_loss(jax.nn.relu(1 - (2 * first - 1) * second), weights, reduction=reduction)


def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: Any = None,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = None,
    reduction: str = _DEFAULT,
    dim: Any = None,
) -> Any:
    """1 minus the product of vectors, which have length 1 already."""
    first, second = _same_shape(labels, predictions)
    product = jnp.sum(first * second, dim if axis is None else axis, keepdims=True)
    return compute_weighted_loss(1 - product, weights, reduction=reduction)


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
    loss_collection: Any = None,
    reduction: str = _DEFAULT,
) -> Any:
    """The cross-entropy of rows of probabilities."""
    scores = as_floating(logits)
    labels = as_array(onehot_labels).astype(scores.dtype)
    labels = labels * (1 - label_smoothing) + label_smoothing / labels.shape[-1]
    return compute_weighted_loss(softmax_cross_entropy_with_logits(labels, scores), weights, reduction=reduction)


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = None,
    reduction: str = _DEFAULT,
) -> Any:
    """The cross-entropy of classes."""
    scores, classes = as_floating(logits), as_array(labels)
    if classes.ndim == scores.ndim and classes.shape[-1] == 1:
        classes = classes[..., 0]
    values = sparse_softmax_cross_entropy_with_logits(classes, scores)
    factors = as_array(weights)
    if factors.ndim == values.ndim + 1 and factors.shape[-1] == 1:
        factors = factors[..., 0]
    return compute_weighted_loss(values, factors, reduction=reduction)


def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
    loss_collection: Any = None,
    reduction: str = _DEFAULT,
) -> Any:
    """The cross-entropy of labels 0 and 1, several of which may be 1."""
    labels, scores = _same_shape(multi_class_labels, logits)
    labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
    return compute_weighted_loss(sigmoid_cross_entropy_with_logits(labels, scores), weights, reduction=reduction)


def _same_shape(labels: Any, predictions: Any) -> tuple[Any, Any]:
    second = as_floating(predictions)
    first = as_array(labels).astype(second.dtype)
    if first.shape != second.shape:
        raise ValueError(f"The shapes are {tuple(first.shape)} and {tuple(second.shape)}. Expected the same shape.")
    return first, second


def _divide(total: Any, count: Any) -> Any:
    return jnp.where(count == 0, 0.0, total / jnp.where(count == 0, 1.0, count))


__getattr__ = _explain_missing_names("tf.compat.v1.losses")
