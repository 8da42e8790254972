"""Losses over very many classes that compute only a sample of the classes at each call."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import ml_dtypes

from unisono.tf._op import op_without_folding
from unisono.tf._operands import as_floating
from unisono.tf._tensors import as_array
from unisono.tf.nn._losses import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits
from unisono.tf.random._candidate_samplers import log_uniform_candidate_sampler


@op_without_folding
def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
) -> Any:
    """The noise-contrastive estimation loss of each row: the true classes against sampled ones.

    Args:
        weights: the class embeddings, `[num_classes, dim]`.
        biases: the class biases, `[num_classes]`.
        labels: the true classes, `[batch, num_true]`.
        inputs: the activations, `[batch, dim]`.
        num_sampled: the number of classes to sample; one sample serves the whole batch.
        num_classes: the number of classes.
        num_true: the number of true classes of each row.
        sampled_values: what a candidate sampler of tf.random returned. If None,
            `tf.random.log_uniform_candidate_sampler` is called.
        remove_accidental_hits: whether a sampled class that is a true class of the row is left out.
    """
    sampled = sampled_values or log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes)
    targets, logits = _compute_sampled_logits(weights, biases, labels, inputs, sampled, remove_accidental_hits)
    return jnp.sum(sigmoid_cross_entropy_with_logits(labels=targets, logits=logits), -1)


@op_without_folding
def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: Any = None,
) -> Any:
    """The softmax cross-entropy of each row over its true and the sampled classes. Arguments as in :func:`nce_loss`."""
    sampled = sampled_values or log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
    targets, logits = _compute_sampled_logits(weights, biases, labels, inputs, sampled, remove_accidental_hits)
    return softmax_cross_entropy_with_logits(labels=targets, logits=logits)


def _compute_sampled_logits(
    weights: Any, biases: Any, labels: Any, inputs: Any, sampled: Any, remove_accidental_hits: bool
) -> Any:
    """Returns labels and logits of the true classes, followed by those of the sampled classes."""
    weights, biases, inputs = as_floating(weights), as_floating(biases), as_floating(inputs)
    labels = as_array(labels)
    sampled_classes, true_expected_count, sampled_expected_count = (as_array(each) for each in sampled)
    true_logits = jnp.einsum("bd,btd->bt", inputs, weights[labels]) + biases[labels] - jnp.log(true_expected_count)
    sampled_logits = inputs @ weights[sampled_classes].T + biases[sampled_classes] - jnp.log(sampled_expected_count)
    if remove_accidental_hits:
        is_hit = jnp.any(labels[:, :, None] == sampled_classes, axis=1)
        lowest = ml_dtypes.finfo(sampled_logits.dtype).min  # type: ignore[no-untyped-call]
        sampled_logits = jnp.where(is_hit, lowest, sampled_logits)
    targets = jnp.concatenate([jnp.full_like(true_logits, 1 / labels.shape[1]), jnp.zeros_like(sampled_logits)], -1)
    return targets, jnp.concatenate([true_logits, sampled_logits], -1)
