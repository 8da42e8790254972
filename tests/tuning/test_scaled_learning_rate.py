"""`unisono.scale_learning_rate`."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest

import unisono

X = np.linspace(-1, 1, 32, dtype="float32").reshape(16, 2)
Y = X.sum(axis=1, keepdims=True)


def rates(schedule: object, *steps: int) -> list[float]:
    return [round(float(schedule(step)), 6) for step in steps]  # type: ignore[operator]


def two_replicas() -> unisono.MirroredStrategy:
    return unisono.MirroredStrategy(["cpu:0", "cpu:1"])


def make_model(strategy: unisono.Strategy, schedule: object) -> keras.Model:
    keras.utils.set_random_seed(1)
    with strategy.scope():
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(schedule), "mse")
    return model


def test_the_rate_is_multiplied_by_the_replicas_or_their_square_root() -> None:
    strategy = unisono.MirroredStrategy([f"cpu:{index}" for index in range(4)])
    assert rates(unisono.scale_learning_rate(0.1, strategy), 0, 7) == [0.4, 0.4]
    assert rates(unisono.scale_learning_rate(0.1, strategy, rule="sqrt"), 0) == [0.2]


def test_numbers_of_numpy_are_numbers() -> None:
    schedule = unisono.scale_learning_rate(np.float32(0.5), two_replicas(), warmup_steps=np.int64(10))
    assert rates(schedule, 0, 10) == [0.5, 1.0]
    assert type(schedule.get_config()["warmup_steps"]) is int


def test_the_rate_of_one_replica_stays() -> None:
    strategy = unisono.MirroredStrategy(["cpu:0"])
    assert rates(unisono.scale_learning_rate(0.1, strategy, warmup_steps=10), 0, 5, 20) == [0.1, 0.1, 0.1]


def test_the_warm_up_goes_from_the_base_to_the_scaled_rate() -> None:
    schedule = unisono.scale_learning_rate(0.1, two_replicas(), warmup_steps=10)
    assert rates(schedule, 0, 5, 10, 99) == [0.1, 0.15, 0.2, 0.2]


def test_the_values_of_a_schedule_are_multiplied() -> None:
    base = keras.optimizers.schedules.PiecewiseConstantDecay([10], [0.1, 0.01])
    assert rates(unisono.scale_learning_rate(base, two_replicas()), 0, 11) == [0.2, 0.02]


def test_a_saved_model_keeps_its_schedule(tmp_path: Path) -> None:
    base = keras.optimizers.schedules.CosineDecay(0.1, 100)
    model = make_model(two_replicas(), unisono.scale_learning_rate(base, two_replicas(), warmup_steps=4))
    model.fit(X, Y, batch_size=4, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    before, after = (each.optimizer.learning_rate for each in (model, loaded))
    assert float(before) == float(after) != 0.1


def test_a_step_uses_the_scaled_rate() -> None:
    weights = []
    for rate in (unisono.scale_learning_rate(0.05, two_replicas()), 0.1):
        model = make_model(two_replicas(), rate)
        model.fit(X, Y, batch_size=4, verbose=0, shuffle=False)
        weights.append(model.get_weights())
    assert all((one == other).all() for one, other in zip(*weights, strict=True))


def test_a_resumed_run_continues_the_warm_up(tmp_path: Path) -> None:
    results = []
    for epochs in ((2,), (1, 2)):
        for number in epochs:
            model = make_model(two_replicas(), unisono.scale_learning_rate(0.05, two_replicas(), warmup_steps=6))
            model.fit(X, Y, batch_size=4, epochs=number, verbose=0, shuffle=False, resume=tmp_path / str(len(epochs)))
        results.append(model.get_weights())
    assert all((one == other).all() for one, other in zip(*results, strict=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"base": 0.1, "rule": "cubic"}, 'Write "linear"'),
        ({"base": 0.0}, "a number above 0"),
        ({"base": "fast"}, "a number above 0"),
        ({"base": 0.1, "warmup_steps": -1}, "at least 0"),
    ],
)
def test_a_wrong_argument_is_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unisono.scale_learning_rate(strategy=two_replicas(), **arguments)  # type: ignore[arg-type]


def test_a_number_is_no_strategy() -> None:
    with pytest.raises(TypeError, match="Pass the strategy"):
        unisono.scale_learning_rate(0.1, 8)  # type: ignore[arg-type]
