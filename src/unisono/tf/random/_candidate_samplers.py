"""Candidate samplers: draw negative classes for losses over very many classes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp

from unisono.tf._op import op_without_folding
from unisono.tf._tensors import as_array
from unisono.tf.random._seed_generators import next_key

_BISECTION_STEPS: Final = 40

TOO_MANY = """tf.random.{name}: num_sampled is {count}, range_max is {num_classes}, and unique is True. Expected
num_sampled <= range_max, or unique=False."""


@op_without_folding
def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = None
) -> Any:
    """Samples classes from a log-uniform (Zipfian) distribution, for classes sorted by decreasing frequency.

    >>> classes, _, _ = log_uniform_candidate_sampler([[1]], 1, num_sampled=4, unique=True, range_max=4)
    >>> sorted(classes.tolist())
    [0, 1, 2, 3]

    Args:
        true_classes: the true classes, `[batch, num_true]`.
        num_true: the number of true classes of each example.
        num_sampled: the number of classes to sample.
        unique: whether the sampled classes all differ.
        range_max: the number of classes.
        seed: calls with the same seed draw from one sequence.

    Returns:
        The sampled classes, and the expected counts of the true classes and of the sampled classes.
    """
    return _sample_candidates(
        "log_uniform_candidate_sampler", _log_uniform, true_classes, num_sampled, unique, range_max, seed
    )


@op_without_folding
def uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = None
) -> Any:
    """Samples classes from a uniform distribution. Arguments as in :func:`log_uniform_candidate_sampler`."""
    return _sample_candidates("uniform_candidate_sampler", _uniform, true_classes, num_sampled, unique, range_max, seed)


def _log_uniform(num_classes: int) -> Any:
    return jnp.log1p(1 / jnp.arange(1.0, num_classes + 1)) / jnp.log(num_classes + 1.0)


def _uniform(num_classes: int) -> Any:
    return jnp.full((num_classes,), 1 / num_classes)


def _sample_candidates(
    name: str,
    distribution: Callable[[int], Any],
    true_classes: Any,
    count: Any,
    unique: bool,
    num_classes: Any,
    seed: Any,
) -> Any:
    if unique and count > num_classes:
        raise ValueError(TOO_MANY.format(name=name, count=count, num_classes=num_classes))
    return _sample(next_key(seed), as_array(true_classes), distribution, int(count), bool(unique), int(num_classes))


@functools.partial(jax.jit, static_argnums=(2, 3, 4, 5))
def _sample(
    key: Any, true_classes: Any, distribution: Callable[[int], Any], count: int, unique: bool, num_classes: int
) -> Any:
    probabilities = distribution(num_classes)
    if unique:
        # Gumbel top-k: the same distribution as drawing one after the other without replacement.
        _, drawn = jax.lax.top_k(jnp.log(probabilities) + jax.random.gumbel(key, (num_classes,)), count)
        expected = _probability_in(_num_draws(probabilities, count), probabilities)
    else:
        drawn = jax.random.categorical(key, jnp.log(probabilities), shape=(count,))
        expected = count * probabilities
    return drawn.astype(jnp.int32), expected[true_classes], expected[drawn]


def _probability_in(num_draws: Any, probabilities: Any) -> Any:
    return -jnp.expm1(num_draws * jnp.log1p(-probabilities))


def _num_draws(probabilities: Any, count: int) -> Any:
    """Returns how many draws with replacement give ``count`` different classes on average. Bisects the logarithm."""

    def bisect(_: int, bounds: Any) -> Any:
        low, high = bounds
        middle = (low + high) / 2
        enough = jnp.sum(_probability_in(jnp.exp(middle), probabilities)) >= count
        return jnp.where(enough, low, middle), jnp.where(enough, middle, high)

    most = jnp.log(count / jnp.min(probabilities)) + 5.0
    return jnp.exp(jax.lax.fori_loop(0, _BISECTION_STEPS, bisect, (jnp.zeros(()), most))[1])
