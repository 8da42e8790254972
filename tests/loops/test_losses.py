"""How losses are scaled, so that the sum over replicas is the loss of the global batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy

from ._replicas import batches, local

pytestmark = pytest.mark.slow

Called = Callable[[Callable[..., Any]], Callable[..., Any]]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, 2.0),
        ({"global_batch_size": 12}, 0.5),
        ({"sample_weight": np.float32([1, 0, 2])}, 7 / 3),
        ({"sample_weight": [1.0, 0.0, 2.0]}, 7 / 3),
        ({"sample_weight": 2}, 4.0),
        ({"sample_weight": np.float32([1, 0, 2]), "global_batch_size": 14}, 0.5),
    ],
    ids=["rows", "global-batch-size", "weights", "weights-in-a-list", "one-weight", "both"],
)
def test_the_average_loss_divides_by_the_global_batch(
    strategy: Strategy, called: Called, arguments: dict[str, Any], expected: float
) -> None:
    """Losses 1, 2, 3 on every replica. Unless given, the global batch has the rows of a replica times the replicas."""
    number = strategy.num_replicas_in_sync
    result = called(
        lambda: strategy.run(lambda: unisono.nn.compute_average_loss(jnp.asarray([1.0, 2.0, 3.0]), **arguments))
    )()
    divided = expected if "global_batch_size" in arguments else expected / number
    np.testing.assert_allclose(local(strategy, result), [divided] * number, rtol=1e-6)


def test_the_average_loss_of_rows_with_several_losses_divides_by_rows(pair: Strategy) -> None:
    losses = jnp.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert local(pair, pair.run(lambda: unisono.nn.compute_average_loss(losses))) == [2.5, 2.5]


def test_the_average_loss_of_steps_in_time_has_a_weight_for_each(strategy: Strategy) -> None:
    """Lists of Python's numbers as arguments of `run`."""
    losses, weights = [[2.0, 0.5], [4.0, 1.0]], [[0.3, 0.7], [0.2, 0.8]]
    result = strategy.run(unisono.nn.compute_average_loss, args=(losses,), kwargs={"sample_weight": weights})
    expected = (2.0 * 0.3 + 0.5 * 0.7 + 4.0 * 0.2 + 1.0 * 0.8) / 2
    assert float(strategy.reduce("SUM", result, axis=None)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_the_average_loss_keeps_the_type_of_the_losses(pair: Strategy, dtype: str) -> None:
    losses = jnp.asarray([2.0, 4.0, 6.0], dtype)
    result = pair.reduce("SUM", pair.run(lambda: unisono.nn.compute_average_loss(losses, sample_weight=2)), axis=None)
    assert (result.dtype, float(result)) == (dtype, 8.0)


def test_weights_in_a_column_belong_to_the_rows(pair: Strategy) -> None:
    losses, weights = jnp.asarray([1.0, 2.0, 3.0]), jnp.ones((3, 1))
    found = pair.run(lambda: unisono.nn.compute_average_loss(losses, weights, global_batch_size=3))
    assert local(pair, found) == [2.0, 2.0]


@pytest.mark.parametrize("shape", [(2,), (3, 2), (3, 1, 1)])
def test_weights_that_do_not_fit_the_losses_are_refused(pair: Strategy, shape: tuple[int, ...]) -> None:
    with pytest.raises((TypeError, ValueError), match="shape"):
        pair.run(lambda: unisono.nn.compute_average_loss(jnp.ones(3), sample_weight=jnp.ones(shape)))


def test_the_average_loss_of_nothing_is_zero(pair: Strategy) -> None:
    nothing = jnp.zeros((0,))
    assert local(pair, pair.run(lambda: unisono.nn.compute_average_loss(nothing))) == [0.0, 0.0]
    of_none = pair.run(lambda: unisono.nn.compute_average_loss(jnp.ones(1), global_batch_size=0))
    assert local(pair, of_none) == [0.0, 0.0]


def test_outside_of_every_scope_the_average_is_the_mean() -> None:
    assert float(unisono.nn.compute_average_loss(jnp.asarray([1.0, 3.0]))) == 2.0
    assert float(unisono.nn.scale_regularization_loss(jnp.asarray([1.0, 3.0]))) == 4.0


def test_what_is_no_loss_for_each_row_or_no_batch_size_is_refused(pair: Strategy) -> None:
    with pytest.raises(ValueError, match="loss for each row"):
        pair.run(lambda: unisono.nn.compute_average_loss(jnp.asarray(1.0)))
    with pytest.raises(ValueError, match="global_batch_size"):
        pair.run(lambda: unisono.nn.compute_average_loss(jnp.ones(1), global_batch_size=-1))
    with pytest.raises(TypeError, match="global_batch_size"):
        pair.run(lambda: unisono.nn.compute_average_loss(jnp.ones(1), global_batch_size=1.5))


@pytest.mark.parametrize("name", ["compute_average_loss", "scale_regularization_loss"])
def test_scaling_belongs_into_a_replica(strategy: Strategy, name: str) -> None:
    with strategy.scope(), pytest.raises(RuntimeError, match="replicas"):
        getattr(unisono.nn, name)(jnp.ones(1))


@pytest.mark.parametrize("losses", [jnp.asarray([1.0, 2.0]), [jnp.asarray(1.0), jnp.asarray(2.0)], jnp.asarray(3.0)])
def test_a_regularization_loss_counts_once_in_the_sum(strategy: Strategy, called: Called, losses: Any) -> None:
    number = strategy.num_replicas_in_sync
    result = called(lambda: strategy.run(lambda: unisono.nn.scale_regularization_loss(losses)))()
    np.testing.assert_allclose(local(strategy, result), [3.0 / number] * number, rtol=1e-6)


def test_no_regularization_loss_is_zero(pair: Strategy) -> None:
    assert local(pair, pair.run(lambda: unisono.nn.scale_regularization_loss([]))) == [0.0, 0.0]


@pytest.mark.parametrize(
    ("reduction", "whole"),
    [("sum_over_batch_size", 1.0), ("mean", 1.0), ("mean_with_sample_weight", 1.0), ("sum", None), ("none", None)],
)
def test_keras_losses_with_a_mean_are_divided_by_the_replicas(
    strategy: Strategy, called: Called, reduction: str, whole: float | None
) -> None:
    loss = keras.losses.MeanSquaredError(reduction=reduction)
    number = strategy.num_replicas_in_sync
    result = called(lambda: strategy.run(lambda: loss(jnp.zeros((3, 1)), jnp.ones((3, 1)))))()
    if whole is not None:
        expected: Any = whole / number
    else:
        expected = 3.0 if reduction == "sum" else [1.0, 1.0, 1.0]
    assert local(strategy, result) == [expected] * number


def test_keras_losses_are_not_divided_outside_of_replicas(several: Strategy) -> None:
    """With TensorFlow they are, inside the scope; what is computed there is the whole batch."""
    loss = keras.losses.MeanSquaredError()
    assert float(loss(jnp.zeros((3, 1)), jnp.ones((3, 1)))) == 1.0
    with several.scope():
        assert float(loss(jnp.zeros((3, 1)), jnp.ones((3, 1)))) == 1.0


@pytest.mark.parametrize("num_rows", [8, 7, 1])
def test_the_sum_over_replicas_is_the_loss_of_the_global_batch(strategy: Strategy, num_rows: int) -> None:
    """Even, uneven, and with rows for one replica only: TensorFlow's is right for the first."""
    loss = keras.losses.MeanSquaredError()
    y = np.arange(num_rows, dtype=np.float32)[:, None]
    (batch,) = batches(strategy, y, 8)
    step = unisono.function(lambda y: strategy.run(lambda y: loss(y, jnp.zeros_like(y)), args=(y,)))
    assert float(strategy.reduce("SUM", step(batch), axis=None)) == pytest.approx(float(np.mean(y**2)), rel=1e-6)


def test_the_loss_of_each_row_is_averaged_over_the_true_rows_by_reduce(strategy: Strategy) -> None:
    """The mean with an axis needs no scaling, whatever the last batch."""
    y = np.arange(5, dtype=np.float32)[:, None]
    (batch,) = batches(strategy, y, 8)
    losses = strategy.run(lambda y: keras.losses.mean_squared_error(y, jnp.zeros_like(y)), args=(batch,))
    assert float(strategy.reduce("MEAN", losses, axis=0)) == pytest.approx(float(np.mean(y**2)), rel=1e-6)
