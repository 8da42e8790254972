"""Strategies that shard variables: everything trains, is saved and resumes as with mirrored ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax
import keras
import numpy as np
import pytest

import unisono
from unisono._src.keras_hooks import raw_value
from unisono._src.strategy import Strategy
from unisono._src.training import check_in_sync, programs
from unisono.checkpoint import Checkpoint

DEVICES = ["cpu:0", "cpu:1"]
X = np.random.default_rng(0).normal(size=(48, 6)).astype("float32")
Y = X @ np.random.default_rng(1).normal(size=(6, 3)).astype("float32")


@pytest.fixture
def sharded() -> Strategy:
    return unisono.FullyShardedStrategy(DEVICES, min_shard_size=0)


@pytest.fixture
def mirrored() -> Strategy:
    return unisono.MirroredStrategy(DEVICES)


def make_model(strategy: Strategy, dropout: float = 0.0) -> keras.Model:
    keras.utils.set_random_seed(7)
    with strategy.scope():
        layers = [keras.layers.Dense(8, "relu"), keras.layers.Dropout(dropout), keras.layers.Dense(3)]
        model = keras.Sequential([keras.Input((6,)), *layers])
        model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    return model


def fit(model: keras.Model, **options: Any) -> dict[str, list[float]]:
    keras.utils.set_random_seed(11)  # the same order of rows and the same dropout for every model
    history: dict[str, list[float]] = model.fit(X, Y, batch_size=16, verbose=0, **options).history
    return history


def values(model: keras.Model) -> dict[str, np.ndarray]:
    variables = [*model.variables, *model.optimizer.variables]
    return {f"{index} {each.path}": np.asarray(each.numpy()) for index, each in enumerate(variables)}


def assert_equal_values(one: keras.Model, other: keras.Model) -> None:
    found, expected = values(one), values(other)
    assert len(found) == len(expected) > 8
    for (name, value), wanted in zip(found.items(), expected.values(), strict=True):
        np.testing.assert_allclose(value, wanted, rtol=2e-5, atol=1e-6, err_msg=name)


def assert_kernels_are_sharded(model: keras.Model) -> None:
    kernel = raw_value(model.layers[0].kernel)
    assert kernel.shape == (6, 8)
    assert [shard.data.shape for shard in kernel.addressable_shards] == [(6, 4), (6, 4)]
    momentum = next(each for each in model.optimizer.variables if tuple(each.shape) == (6, 8))
    assert not raw_value(momentum).is_fully_replicated


@pytest.mark.slow
@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_fit_trains_sharded_weights_as_it_trains_mirrored_ones(
    sharded: Strategy, mirrored: Strategy, dropout: float
) -> None:
    models = [make_model(strategy, dropout) for strategy in (sharded, mirrored)]
    histories = [fit(model, epochs=3, validation_data=(X[:10], Y[:10])) for model in models]
    assert_kernels_are_sharded(models[0])
    assert_equal_values(*models)
    for name, losses in histories[0].items():
        np.testing.assert_allclose(losses, histories[1][name], rtol=2e-5)
    np.testing.assert_allclose(models[0].predict(X, verbose=0), models[1].predict(X, verbose=0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(models[0](X[:4]), models[1](X[:4]), rtol=1e-4, atol=1e-5)
    check_in_sync(models[0])


def test_checkpoints_of_sharded_and_mirrored_weights_are_the_same(
    sharded: Strategy, mirrored: Strategy, tmp_path: Path
) -> None:
    trained = make_model(sharded)
    fit(trained)
    path = Checkpoint(model=trained).save(tmp_path / "ckpt")
    for strategy in (sharded, mirrored):
        restored = make_model(strategy)
        Checkpoint(model=restored).restore(path).assert_consumed()
        assert_equal_values(restored, trained)
        fit(restored)
        if strategy is sharded:
            assert_kernels_are_sharded(restored)
            resumed = restored
    assert_equal_values(resumed, restored)


@pytest.mark.slow
def test_a_run_resumes_with_sharded_weights(sharded: Strategy, mirrored: Strategy, tmp_path: Path) -> None:
    uninterrupted = make_model(mirrored, 0.3)
    fit(uninterrupted, epochs=4)
    fit(make_model(sharded, 0.3), epochs=2, resume=tmp_path / "run")
    resumed = make_model(sharded, 0.3)
    fit(resumed, epochs=4, resume=tmp_path / "run")
    assert_kernels_are_sharded(resumed)
    assert_equal_values(resumed, uninterrupted)


def test_weights_files_and_get_weights_hold_whole_values(sharded: Strategy, mirrored: Strategy, tmp_path: Path) -> None:
    model = make_model(sharded)
    fit(model)
    assert [weight.shape for weight in model.get_weights()] == [(6, 8), (8,), (8, 3), (3,)]
    model.save_weights(tmp_path / "model.weights.h5")
    again = make_model(mirrored)
    again.optimizer.build(again.trainable_variables)
    again.load_weights(tmp_path / "model.weights.h5")
    for one, other in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_a_custom_loop_trains_sharded_weights_as_mirrored_ones(sharded: Strategy, mirrored: Strategy) -> None:
    def train(strategy: Strategy) -> keras.Model:
        model = make_model(strategy)
        model.optimizer.build(model.trainable_variables)  # outside the scope: these variables have no owner

        def step(x: Any, y: Any) -> Any:
            with unisono.GradientTape() as tape:
                loss = keras.ops.sum((model(x) - y) ** 2) / 16
            model.optimizer.apply_gradients(
                zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
            )
            return loss

        run = unisono.function(lambda x, y: strategy.run(step, args=(x, y)))
        dataset = unisono.data.Dataset.from_tensor_slices((X, Y)).batch(16)
        for x, y in strategy.experimental_distribute_dataset(dataset):
            run(x, y)
        return model

    models = [train(strategy) for strategy in (sharded, mirrored)]
    assert_kernels_are_sharded(models[0])
    assert_equal_values(*models)


def test_values_of_a_sharded_variable_are_whole_for_every_replica(sharded: Strategy) -> None:
    with sharded.scope():
        variable = keras.Variable(np.arange(4.0))
    assert [each.tolist() for each in variable.values] == [[0, 1, 2, 3]] * 2
    assert [each.devices() for each in variable.values] == [{device} for device in sharded.placement.devices]
    variable.assign_add(np.ones(4))
    assert sharded.placement.fetch({"v": raw_value(variable)})["v"].tolist() == [1, 2, 3, 4]


def test_fetched_values_are_copies(mirrored: Strategy) -> None:
    placement = mirrored.placement
    placed = placement.place_variable(jax.numpy.zeros(3))
    fetched = placement.fetch([placed])[0]
    jax.jit(lambda x: x + 1, donate_argnums=0)(placed).block_until_ready()
    assert fetched.tolist() == [0, 0, 0]
    fetched += 1  # it may be written


@pytest.mark.slow
def test_on_one_device_the_step_is_that_of_a_mirrored_strategy() -> None:
    def compiled_step(strategy: Strategy) -> list[str]:
        model = make_model(strategy)
        fit(model)
        lines = [line for line in programs(model)[0].text.splitlines() if " = " in line]
        return [re.sub(r", metadata={[^}]*}", "", line) for line in lines]

    sharded, mirrored = unisono.FullyShardedStrategy(["cpu:0"], min_shard_size=0), unisono.MirroredStrategy(["cpu:0"])
    assert compiled_step(sharded) == compiled_step(mirrored)
