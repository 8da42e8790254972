"""Losses over very many classes, of which a few are drawn at each call."""

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
    """The loss of each row by noise-contrastive estimation: the right classes against ones that are drawn.

    Args:
        weights: a row of numbers for each class.
        biases: a number for each class.
        labels: the right classes, a row of ``num_true`` for each row of inputs.
        inputs: rows of numbers.
        num_sampled: how many classes are drawn; one draw serves the batch.
        num_classes: how many there are.
        num_true: how many right classes a row has.
        sampled_values: what a sampler of tf.random returned; else `tf.random.log_uniform_candidate_sampler` draws.
        remove_accidental_hits: whether a class that was drawn and is right does not count as wrong.
    """
    sampled = sampled_values or log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes)
    wanted, logits = _of_few(weights, biases, labels, inputs, sampled, remove_accidental_hits)
    return jnp.sum(sigmoid_cross_entropy_with_logits(labels=wanted, logits=logits), -1)


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
    """The cross-entropy of each row over the right classes and ones that are drawn. Arguments: see :func:`nce_loss`."""
    sampled = sampled_values or log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
    wanted, logits = _of_few(weights, biases, labels, inputs, sampled, remove_accidental_hits)
    return softmax_cross_entropy_with_logits(labels=wanted, logits=logits)


def _of_few(weights: Any, biases: Any, labels: Any, inputs: Any, sampled: Any, without_hits: bool) -> Any:
    """Labels and logits of the right classes, then of those drawn."""
    weights, biases, inputs = as_floating(weights), as_floating(biases), as_floating(inputs)
    labels = as_array(labels)
    drawn, expected_right, expected_drawn = (as_array(each) for each in sampled)
    right = jnp.einsum("bd,btd->bt", inputs, weights[labels]) + biases[labels] - jnp.log(expected_right)
    wrong = inputs @ weights[drawn].T + biases[drawn] - jnp.log(expected_drawn)
    if without_hits:
        hit = jnp.any(labels[:, :, None] == drawn, axis=1)
        lowest = ml_dtypes.finfo(wrong.dtype).min  # type: ignore[no-untyped-call]
        wrong = jnp.where(hit, lowest, wrong)
    wanted = jnp.concatenate([jnp.full_like(right, 1 / labels.shape[1]), jnp.zeros_like(wrong)], -1)
    return wanted, jnp.concatenate([right, wrong], -1)
