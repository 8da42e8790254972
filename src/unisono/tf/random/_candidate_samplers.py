"""Classes that are drawn to stand for all that are wrong: candidates for losses over very many classes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp

from unisono.tf._op import op_without_folding
from unisono.tf._tensors import as_array
from unisono.tf.random._seed_generators import next_key

_HALVINGS: Final = 40

TOO_MANY = """tf.random.{name}: {wanted} different classes are asked for, and there are {known}. Expected
num_sampled <= range_max, or unique=False."""


@op_without_folding
def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = None
) -> Any:
    """Classes of which low ones are more likely, as words are that are sorted by how often they occur.

    >>> classes, _, _ = log_uniform_candidate_sampler([[1]], 1, num_sampled=4, unique=True, range_max=4)
    >>> sorted(classes.tolist())
    [0, 1, 2, 3]

    Args:
        true_classes: the right classes, a row for each example.
        num_true: how many there are in a row.
        num_sampled: how many classes are drawn.
        unique: whether they all differ.
        range_max: how many classes there are.
        seed: calls with one seed draw from one sequence.

    Returns:
        The classes; and how often each right class, and each class drawn, is expected among as many.
    """
    return _drawn("log_uniform_candidate_sampler", _log_uniform, true_classes, num_sampled, unique, range_max, seed)


@op_without_folding
def uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Any = None
) -> Any:
    """:func:`log_uniform_candidate_sampler` with classes that are all as likely."""
    return _drawn("uniform_candidate_sampler", _uniform, true_classes, num_sampled, unique, range_max, seed)


def _log_uniform(known: int) -> Any:
    return jnp.log1p(1 / jnp.arange(1.0, known + 1)) / jnp.log(known + 1.0)


def _uniform(known: int) -> Any:
    return jnp.full((known,), 1 / known)


def _drawn(
    name: str, likely: Callable[[int], Any], true_classes: Any, count: Any, unique: bool, known: Any, seed: Any
) -> Any:
    if unique and count > known:
        raise ValueError(TOO_MANY.format(name=name, wanted=count, known=known))
    return _program(next_key(seed), as_array(true_classes), likely, int(count), bool(unique), int(known))


@functools.partial(jax.jit, static_argnums=(2, 3, 4, 5))
def _program(key: Any, true_classes: Any, likely: Callable[[int], Any], count: int, unique: bool, known: int) -> Any:
    chances = likely(known)
    if unique:
        # The largest of the logarithms with noise: as if one was drawn after the other, and none put back.
        _, drawn = jax.lax.top_k(jnp.log(chances) + jax.random.gumbel(key, (known,)), count)
        expected = _chance_in(_tries(chances, count), chances)
    else:
        drawn = jax.random.categorical(key, jnp.log(chances), shape=(count,))
        expected = count * chances
    return drawn.astype(jnp.int32), expected[true_classes], expected[drawn]


def _chance_in(tries: Any, likely: Any) -> Any:
    return -jnp.expm1(tries * jnp.log1p(-likely))


def _tries(likely: Any, count: int) -> Any:
    """How many draws it takes, with those put back, until so many differ: found by halving, on a scale of powers."""

    def halved(_: int, bounds: Any) -> Any:
        low, high = bounds
        middle = (low + high) / 2
        enough = jnp.sum(_chance_in(jnp.exp(middle), likely)) >= count
        return jnp.where(enough, low, middle), jnp.where(enough, middle, high)

    most = jnp.log(count / jnp.min(likely)) + 5.0
    return jnp.exp(jax.lax.fori_loop(0, _HALVINGS, halved, (jnp.zeros(()), most))[1])
