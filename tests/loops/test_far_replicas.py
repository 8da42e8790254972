"""Replicas of several processes on CPUs: a step sums once, and the numbers do not change.

Here they are in one process and only treated that way; real workers have their own tests.
"""

from __future__ import annotations

from typing import Any

import jax
import keras
import numpy as np
import pytest

import unisono
from unisono._src.devices import Placement
from unisono._src.jax_hooks import _combined_all_reduces
from unisono._src.replicas.context import _replica
from unisono._src.strategy import Strategy

from ._replicas import mirrored, per_replica

pytestmark = pytest.mark.slow


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Strategy:
    monkeypatch.setattr(Placement, "needs_combined_all_reduces", True)
    return mirrored(2)


@pytest.fixture
def summed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The dtype of each sum in the programs that are traced."""
    dtypes: list[Any] = []
    original = _combined_all_reduces._sum

    def noted(vector: Any, axis: str) -> Any:
        dtypes.append(str(vector.dtype))
        return original(vector, axis)

    monkeypatch.setattr(_combined_all_reduces, "_sum", noted)
    return dtypes


def trained(strategy: Strategy) -> tuple[list[float], float, list[Any]]:
    """The losses, the accuracy and the weights of three steps of a loop as the guides have it."""
    with strategy.scope():
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, "relu"), keras.layers.Dense(2)])
        optimizer = keras.optimizers.Adam(0.01)
        optimizer.build(model.trainable_variables)
        accuracy = keras.metrics.SparseCategoricalAccuracy()
        loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    def step(x: Any, y: Any) -> Any:
        with unisono.GradientTape() as tape:
            logits = model(x, training=True)
            loss = unisono.nn.compute_average_loss(loss_of(y, logits), global_batch_size=8)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )
        accuracy.update_state(y, logits)
        return loss, keras.ops.shape(y)[0]

    @unisono.function
    def train_step(x: Any, y: Any) -> Any:
        loss, rows = strategy.run(step, args=(x, y))
        return strategy.reduce("SUM", loss, axis=None), strategy.reduce("MEAN", rows, axis=None)

    generator = np.random.default_rng(1)
    each = 8 // strategy.num_replicas_in_sync
    losses = []
    for _ in range(3):
        x = generator.normal(size=(8, 3)).astype("float32")
        y = (x.sum(1) > 0).astype("int32")
        parts = [per_replica(strategy, np.split(array, 8 // each)) for array in (x, y)]
        loss, rows = train_step(*parts)
        assert float(rows) == each
        losses.append(float(loss))
    return losses, float(accuracy.result()), model.get_weights()


def test_a_step_sums_once_for_each_dtype(far: Strategy, summed: list[Any]) -> None:
    trained(far)
    assert summed == ["float32", "int32"]  # gradients, loss and counts of the metric; rows


def test_gradients_are_packed_once(far: Strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    packed: list[int] = []
    for module in (_combined_all_reduces, _replica):
        original = module.apply_packed

        def note(nest: Any, function: Any, original: Any = original, **options: Any) -> Any:
            packed.append(len(jax.tree.leaves(nest)))
            return original(nest, function, **options)

        monkeypatch.setattr(module, "apply_packed", note)
    trained(far)
    # Four gradients, the loss, the number of rows, and two states of the metric.
    assert packed == [8]


def test_sums_inside_a_loop_are_packed_there(far: Strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    packed: list[int] = []
    original = _replica.apply_packed

    def note(nest: Any, function: Any) -> Any:
        packed.append(len(jax.tree.leaves(nest)))
        return original(nest, function)

    monkeypatch.setattr(_replica, "apply_packed", note)

    def step(x: Any) -> Any:
        replica = unisono.get_replica_context()
        return jax.lax.fori_loop(0, 3, lambda _, pair: replica.all_reduce("MEAN", pair), (x, 2 * x))

    one, two = unisono.function(lambda x: far.run(step, args=(x,)))(per_replica(far, [np.ones(2), 3 * np.ones(2)]))
    assert [each.tolist() for each in one.values] == [[2, 2], [2, 2]]
    assert [each.tolist() for each in two.values] == [[4, 4], [4, 4]]
    assert set(packed) == {2}


def test_the_numbers_are_those_of_one_device(far: Strategy) -> None:
    losses, accuracy, weights = trained(far)
    expected_losses, expected_accuracy, expected_weights = trained(mirrored(1))
    assert losses == pytest.approx(expected_losses, rel=1e-6)
    assert accuracy == expected_accuracy
    for found, expected in zip(weights, expected_weights, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
