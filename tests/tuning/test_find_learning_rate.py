"""`unisono.find_learning_rate`: the curve, its suggestion, its chart, and a model that is as before."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import keras
import numpy as np
import pytest

import unisono
from unisono._src.tuning._find_learning_rate import RangeTestSchedule, _count_steps, _LossRecorder
from unisono._src.tuning._learning_rate_curve import LearningRateCurve

X = np.random.default_rng(0).normal(size=(128, 16)).astype("float32")
Y = X.sum(axis=1, keepdims=True)


def make_model(optimizer: Any = "adam", strategy: unisono.Strategy | None = None) -> keras.Model:
    keras.utils.set_random_seed(1)
    with (strategy or unisono.MirroredStrategy(["cpu:0", "cpu:1"])).scope():
        layers = [keras.layers.Dense(64, activation="relu"), keras.layers.Dropout(0.2), keras.layers.Dense(1)]
        model = keras.Sequential([keras.Input((16,)), *layers])
        model.compile(optimizer, "mse", metrics=["mae"])
    return model


def state_of(model: keras.Model) -> list[np.ndarray[Any, Any]]:
    return [np.array(each) for each in (*model.variables, *model.optimizer.variables, *model.metrics_variables)]


def assert_same(one: list[np.ndarray[Any, Any]], other: list[np.ndarray[Any, Any]]) -> None:
    assert all((left == right).all() for left, right in zip(one, other, strict=True))


@pytest.fixture(scope="module")
def found() -> LearningRateCurve:
    return unisono.find_learning_rate(make_model("sgd"), (X, Y), batch_size=32, low=1e-5, high=100.0, steps=60)


def test_the_rates_grow_by_the_same_factor_until_the_loss_diverges(found: LearningRateCurve) -> None:
    rates = np.array(found.learning_rates)
    assert rates[0] == 1e-5
    assert np.allclose(rates[1:] / rates[:-1], (100.0 / 1e-5) ** (1 / 59))
    assert 10 < len(rates) < 60
    assert len(found.losses) == len(rates)


def test_the_suggestion_learns_and_does_not_diverge(found: LearningRateCurve) -> None:
    assert found.suggestion is not None
    model = make_model(keras.optimizers.SGD(found.suggestion))
    history = model.fit(X, Y, batch_size=32, epochs=5, verbose=0).history["loss"]
    assert history[-1] < 0.5 * history[0]


def test_the_first_step_has_the_loss_of_the_model_as_it_is() -> None:
    model = make_model("sgd", unisono.OneDeviceStrategy("cpu:0"))
    model.layers[1].rate = 0.0
    batch = unisono.data.Dataset.from_tensor_slices((X, Y)).batch(32)
    first = unisono.find_learning_rate(model, batch, steps=10, high=1e-5).losses[0]
    assert first == pytest.approx(model.evaluate(X[:32], Y[:32], verbose=0)[0], rel=1e-5)


def test_the_chart_is_an_svg_file_with_both_lines_and_the_suggestion(found: LearningRateCurve, tmp_path: Path) -> None:
    found.save(tmp_path / "lr.svg")
    text = (tmp_path / "lr.svg").read_text()
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert text == found._repr_svg_()
    assert f"suggestion: {found.suggestion:.2g}" in text
    assert all(f'class="line c{number}"' in text for number in (1, 2))


def test_a_loss_below_zero_is_not_taken_for_one_that_diverges() -> None:
    model = make_model("sgd")
    model.compile("sgd", keras.losses.CosineSimilarity(axis=0))
    found = unisono.find_learning_rate(model, (X, Y), batch_size=32, low=1e-6, high=1e-4, steps=12)
    assert len(found.losses) == 12
    assert min(found.losses) < 0
    chart = LearningRateCurve(found.learning_rates, tuple(-1 - number / 10 for number in range(12)))._repr_svg_()
    assert chart.count("loss: -") == 12  # each has its dot


@pytest.mark.parametrize(
    ("losses", "diverged"),
    [([1.0] * 5 + [30.0], True), ([1.0] * 5 + [3.0], False), ([-1.0] * 5 + [40.0], True), ([-1.0], False)],
)
def test_a_loss_diverges_when_it_is_far_above_the_smallest_one(losses: list[float], diverged: bool) -> None:
    recorder = _LossRecorder(100)
    recorder.losses = losses
    assert recorder.has_diverged is diverged


def test_the_first_rate_is_that_of_the_next_step_also_with_accumulated_gradients() -> None:
    model = make_model(keras.optimizers.SGD(0.01, gradient_accumulation_steps=2))
    model.fit(X, Y, batch_size=32, verbose=0)
    assert _count_steps(model.optimizer) == 4
    assert int(model.optimizer.iterations) == 2


def test_rates_of_a_model_that_was_trained_for_long_are_exact() -> None:
    schedule = RangeTestSchedule(1e-3, 1.0, 4, first_step=2**25)
    rates = [float(schedule(np.int32(2**25 + number))) for number in range(4)]
    assert rates == pytest.approx([1e-3, 1e-2, 1e-1, 1.0], rel=1e-5)


def test_a_loss_that_never_falls_has_no_suggestion() -> None:
    curve = LearningRateCurve(tuple(10.0**power for power in range(-9, 1)), tuple(map(float, range(10))))
    assert curve.suggestion is None
    assert "suggestion: none" in repr(curve)


@pytest.mark.slow
@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: keras.optimizers.Adam(0.01),
        lambda: keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, 50), momentum=0.9),
        lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.01)),
    ],
    ids=["rate", "schedule", "loss scale"],
)
def test_training_continues_as_without_the_test(optimizer: Any) -> None:
    states = []
    for is_tested in (True, False):
        model = make_model(optimizer())
        model.fit(X, Y, batch_size=32, verbose=0)
        history, before = model.history, state_of(model)
        if is_tested:
            unisono.find_learning_rate(model, (X, Y), batch_size=32, steps=12)
            assert model.history is history
            assert_same(before, state_of(model))
        model.fit(X, Y, batch_size=32, verbose=0)
        states.append([*state_of(model), np.array(random.random()), np.random.random(3)])
    assert_same(*states)


@pytest.mark.slow
def test_a_sharded_model_is_as_before() -> None:
    model = make_model(strategy=unisono.FullyShardedStrategy(["cpu:0", "cpu:1"]))
    before = state_of(model)
    layouts = [each._value.sharding for each in model.variables]
    unisono.find_learning_rate(model, (X, Y), batch_size=32, steps=10)
    assert_same(before, state_of(model)[: len(before)])
    assert [each._value.sharding for each in model.variables] == layouts


@pytest.mark.full
def test_a_dataset_does_not_notice() -> None:
    def batches_of(*, tested: bool) -> list[Any]:
        rows = unisono.data.Dataset.from_tensor_slices((X, Y)).shuffle(128, seed=3).batch(32)
        if tested:
            unisono.find_learning_rate(make_model(), rows, steps=10)
        return [x for x, _ in rows]

    assert_same(batches_of(tested=True), batches_of(tested=False))


@pytest.mark.parametrize("wrong", [{"low": 0.0}, {"low": 1.0, "high": 0.1}, {"steps": 3}])
def test_a_wrong_range_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="0 < low < high"):
        unisono.find_learning_rate(make_model(), (X, Y), **wrong)
