"""Keras's metrics inside `run`: a state for each replica, one result outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy
from unisono.data import Dataset

from ._replicas import batches, copies, local, mirrored, replica_id

pytestmark = pytest.mark.slow

Called = Callable[[Callable[..., Any]], Callable[..., Any]]


def test_two_metrics_of_one_step(strategy: Strategy, called: Called) -> None:
    with strategy.scope():
        first, second = keras.metrics.Mean("first"), keras.metrics.Mean("second")

    def step() -> None:
        first.update_state(jnp.asarray(5.0))
        second.update_state(jnp.asarray(5.0))

    called(lambda: strategy.run(step))()
    assert float(first.result()) == float(second.result()) == 5.0


@pytest.mark.parametrize("form", ["function-in-run", "run-in-function", "dataset-in-function"])
def test_the_mean_is_that_of_all_rows_in_every_form_of_a_loop(strategy: Strategy, form: str) -> None:
    """0 … 9 in twos; with four replicas two of them get none."""
    with strategy.scope():
        metric = keras.metrics.Mean()
    data = strategy.experimental_distribute_dataset(Dataset.range(10).batch(2))

    def update(x: Any) -> None:
        metric.update_state(x)

    if form == "function-in-run":
        step = unisono.function(update)
        for x in data:
            strategy.run(step, args=(x,))
    elif form == "run-in-function":
        whole = unisono.function(lambda x: strategy.run(update, args=(x,)))
        for x in data:
            whole(x)
    else:

        @unisono.function
        def train(data: Any) -> None:
            for x in data:
                strategy.run(update, args=(x,))

        train(data)
    assert float(metric.result()) == 4.5
    assert float(metric.count.numpy()) == 10.0


def test_rows_have_weights(strategy: Strategy) -> None:
    with strategy.scope():
        metric = keras.metrics.Mean()
    values, weights = np.arange(10, dtype=np.float32), np.float32([0.1] * 10)
    step = unisono.function(lambda batch: strategy.run(metric.update_state, args=batch))
    for batch in batches(strategy, (values, weights), 3):
        step(batch)
    assert float(metric.result()) == pytest.approx(4.5, rel=1e-6)
    assert float(metric.count.numpy()) == pytest.approx(1.0, rel=1e-6)


def test_a_metric_made_outside_is_updated_across_replicas(strategy: Strategy) -> None:
    metric = keras.metrics.Mean()
    with strategy.scope():
        for i in range(10):
            metric.update_state(i)
    assert float(metric.result()) == 4.5


def test_updates_across_replicas_and_inside_add_up(strategy: Strategy, called: Called) -> None:
    with strategy.scope():
        metric = keras.metrics.Sum()
        metric.update_state(100.0)
    called(lambda: strategy.run(lambda: metric.update_state(replica_id() + 1)))()
    metric.update_state(1000.0)
    called(lambda: strategy.run(lambda: metric.update_state(replica_id() + 1)))()
    number = strategy.num_replicas_in_sync
    assert float(metric.result()) == 1100.0 + number * (number + 1)


def test_inside_the_result_is_that_of_the_replica(several: Strategy, called: Called) -> None:
    with several.scope():
        metric = keras.metrics.Mean()

    def step() -> Any:
        metric.update_state(replica_id() + 1)
        return metric.result()

    number = several.num_replicas_in_sync
    assert local(several, called(lambda: several.run(step))()) == [i + 1.0 for i in range(number)]
    assert copies(metric.total) == [i + 1.0 for i in range(number)]
    assert copies(metric.count) == [1.0] * number
    assert float(metric.result()) == (number + 1) / 2


@pytest.mark.parametrize("where", ["outside", "in-scope", "in-function", "in-run"])
def test_a_reset_reaches_every_replica(several: Strategy, where: str) -> None:
    with several.scope():
        metric = keras.metrics.Mean()
    update = unisono.function(lambda: several.run(lambda: metric.update_state(replica_id())))
    update()
    assert float(metric.count.numpy()) == several.num_replicas_in_sync
    if where == "in-scope":
        with several.scope():
            metric.reset_state()
    elif where == "in-run":
        several.run(metric.reset_state)
    else:
        (unisono.function(metric.reset_state) if where == "in-function" else metric.reset_state)()
    assert copies(metric.total) == copies(metric.count) == [0.0] * several.num_replicas_in_sync
    update()
    assert float(metric.result()) == (several.num_replicas_in_sync - 1) / 2


def test_the_result_can_be_asked_for_inside_a_function(strategy: Strategy) -> None:
    with strategy.scope():
        metric = keras.metrics.Mean()

    @unisono.function
    def step() -> Any:
        strategy.run(lambda: metric.update_state(replica_id()))
        return metric.result()

    assert float(step()) == (strategy.num_replicas_in_sync - 1) / 2


def test_the_mean_after_each_step_of_batches_that_are_dealt(strategy: Strategy) -> None:
    """Batches 0 … 3, 4 … 7, …, one for each replica and step: after n of them the mean is 2 n - 0.5."""
    with strategy.scope():
        metric = keras.metrics.Mean()
    data = strategy.distribute_datasets_from_function(lambda context: Dataset.range(16).batch(4, drop_remainder=True))
    step = unisono.function(lambda x: strategy.run(metric.update_state, args=(x,)))
    for number, x in enumerate(data, start=1):
        step(x)
        assert float(metric.result()) == 2 * number * strategy.num_replicas_in_sync - 0.5


LABELS, SCORES = [0, 1, 1, 1], [1, 0, 1, 1]
MORE_LABELS, MORE_SCORES = [0, 0, 0, 1, 1], [0, 0.3, 0.8, 0.3, 0.8]
FOUR_LABELS, FOUR_SCORES = [0, 0, 1, 1], [0, 0.5, 0.3, 0.9]
KNOWN: dict[str, tuple[Callable[[], Any], list[Any], list[Any], float]] = {
    "precision": (keras.metrics.Precision, LABELS, SCORES, 2 / 3),
    "recall": (keras.metrics.Recall, LABELS, SCORES, 2 / 3),
    "sensitivity": (lambda: keras.metrics.SensitivityAtSpecificity(0.5), MORE_LABELS, MORE_SCORES, 0.5),
    "specificity": (lambda: keras.metrics.SpecificityAtSensitivity(0.5), MORE_LABELS, MORE_SCORES, 2 / 3),
    "precision-at-recall": (lambda: keras.metrics.PrecisionAtRecall(0.5), MORE_LABELS, MORE_SCORES, 0.5),
    "recall-at-precision": (lambda: keras.metrics.RecallAtPrecision(0.8), FOUR_LABELS, FOUR_SCORES, 0.5),
    "auc": (lambda: keras.metrics.AUC(num_thresholds=3), FOUR_LABELS, FOUR_SCORES, 0.75),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_results_when_every_replica_sees_the_same(pair: Strategy, name: str) -> None:
    make, labels, scores, expected = KNOWN[name]
    with pair.scope():
        metric = make()
    pair.run(metric.update_state, args=(jnp.asarray(labels), jnp.asarray(scores, "float32")))
    assert float(metric.result()) == pytest.approx(expected, abs=1e-3)


# k replicas = one device

RANDOM = np.random.default_rng(5)
BINARY = RANDOM.integers(0, 2, 22).astype(np.float32), RANDOM.random(22, np.float32)
CLASSES = RANDOM.integers(0, 3, 22), RANDOM.random((22, 3), np.float32)
NUMBERS = RANDOM.random((22, 2), np.float32), RANDOM.random((22, 2), np.float32)
ONE_HOT = np.eye(3, dtype=np.float32)[CLASSES[0]], CLASSES[1]

SPLIT: dict[str, tuple[Callable[[], Any], tuple[Any, Any]]] = {
    "BinaryAccuracy": (keras.metrics.BinaryAccuracy, BINARY),
    "AUC": (lambda: keras.metrics.AUC(num_thresholds=20), BINARY),
    "FalsePositives": (keras.metrics.FalsePositives, BINARY),
    "TrueNegatives": (keras.metrics.TrueNegatives, BINARY),
    "Precision": (keras.metrics.Precision, BINARY),
    "SparseCategoricalAccuracy": (keras.metrics.SparseCategoricalAccuracy, CLASSES),
    "SparseTopK": (lambda: keras.metrics.SparseTopKCategoricalAccuracy(2), CLASSES),
    "SparseCrossentropy": (lambda: keras.metrics.SparseCategoricalCrossentropy(from_logits=True), CLASSES),
    "CategoricalAccuracy": (keras.metrics.CategoricalAccuracy, ONE_HOT),
    "F1Score": (lambda: keras.metrics.F1Score("macro"), ONE_HOT),
    "OneHotMeanIoU": (lambda: keras.metrics.OneHotMeanIoU(3), ONE_HOT),
    "MeanSquaredError": (keras.metrics.MeanSquaredError, NUMBERS),
    "RootMeanSquaredError": (keras.metrics.RootMeanSquaredError, NUMBERS),
    "CosineSimilarity": (keras.metrics.CosineSimilarity, NUMBERS),
    "R2Score": (keras.metrics.R2Score, NUMBERS),
}


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype int64")  # the metric of IoU, on one device too
@pytest.mark.parametrize(("name", "replicas"), [(name, (2, 4)[i % 2]) for i, name in enumerate(SPLIT)])
def test_replicas_have_the_result_of_one_device(name: str, replicas: int) -> None:
    """22 rows in eights: two even batches and one of 6. To 1e-5."""
    several = mirrored(replicas)
    make, data = SPLIT[name]
    alone = make()
    alone.update_state(*data)
    with several.scope():
        metric = make()
    step = unisono.function(lambda batch: several.run(metric.update_state, args=batch))
    for batch in batches(several, data, 8):
        step(batch)
    np.testing.assert_allclose(metric.result(), alone.result(), rtol=1e-5)
