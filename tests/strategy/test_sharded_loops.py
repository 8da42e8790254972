"""Custom loops over sharded state: replicas see whole variables, and update their shards."""

from __future__ import annotations

import collections
import re
from collections.abc import Callable
from typing import Any

import jax
import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy
from unisono._src.tracing.functions import _concrete

FOUR = [f"cpu:{index}" for index in range(4)]
X = np.random.default_rng(0).normal(size=(44, 12)).astype("float32")
Y = X[:, :3] ** 2

STRATEGIES: dict[str, Callable[[], Strategy]] = {
    "one": lambda: unisono.OneDeviceStrategy("cpu:0"),
    "zero3": lambda: unisono.FullyShardedStrategy(FOUR, min_shard_size=0),
    "zero1": lambda: unisono.FullyShardedStrategy(FOUR, shard="optimizer", min_shard_size=0),
    "groups": lambda: unisono.FullyShardedStrategy(FOUR, shard_group=2, min_shard_size=0),
    "mesh": lambda: unisono.ModelParallelStrategy({"batch": 2, "model": 2}, devices=FOUR),
}

OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "adam": lambda: keras.optimizers.Adam(0.01, weight_decay=0.01),
    "sgd": lambda: keras.optimizers.SGD(0.01, momentum=0.9, nesterov=True, use_ema=True, ema_overwrite_frequency=2),
    "accumulated": lambda: keras.optimizers.Adam(0.01, gradient_accumulation_steps=2),
    "clipped": lambda: keras.optimizers.Adam(0.01, global_clipnorm=0.1),
    "adafactor": lambda: keras.optimizers.Adafactor(0.01),
    "lamb": lambda: keras.optimizers.Lamb(0.01),
    "muon": lambda: keras.optimizers.Muon(0.01, weight_decay=0.01),
}


def train(strategy: Strategy, optimizer: Any) -> tuple[list[float], keras.Model, Any]:
    keras.utils.set_random_seed(3)
    with strategy.scope():
        layers = [keras.layers.Dense(16, "relu"), keras.layers.Dense(3)]
        model = keras.Sequential([keras.Input((12,)), *layers])
        optimizer = optimizer()
        optimizer.build(model.trainable_variables)

    def step(x: Any, y: Any) -> Any:
        with unisono.GradientTape() as tape:
            loss = keras.ops.sum((model(x, training=True) - y) ** 2) / 16
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    run = unisono.function(lambda x, y: strategy.reduce("SUM", strategy.run(step, args=(x, y))))
    dataset = unisono.data.Dataset.from_tensor_slices((X, Y)).batch(16)  # the last batch has 12 rows
    losses = [float(run(x, y)) for _ in range(2) for x, y in strategy.experimental_distribute_dataset(dataset)]
    return losses, model, optimizer


@pytest.fixture(scope="module")
def expected() -> dict[str, tuple[list[float], keras.Model, Any]]:
    return {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "optimizer"),
    [
        ("zero3", "adam"),
        ("zero1", "adam"),
        ("mesh", "adam"),
        pytest.param("zero3", "clipped", marks=pytest.mark.slow),
        *[
            pytest.param(kind, name, marks=pytest.mark.full)
            for kind in ("zero3", "zero1", "groups", "mesh")
            for name in OPTIMIZERS
            if (name != "adam" or kind == "groups") and (kind, name) != ("zero3", "clipped")
        ],
    ],
)
def test_a_loop_trains_as_on_one_device(
    kind: str, optimizer: str, expected: dict[str, tuple[list[float], keras.Model, Any]]
) -> None:
    if optimizer not in expected:
        expected[optimizer] = train(STRATEGIES["one"](), OPTIMIZERS[optimizer])
    losses, model, trained = train(STRATEGIES[kind](), OPTIMIZERS[optimizer])
    np.testing.assert_allclose(losses, expected[optimizer][0], rtol=2e-5)
    found, wanted = [
        [np.asarray(variable) for variable in (*owner[1].variables, *owner[2].variables)]
        for owner in ((losses, model, trained), expected[optimizer])
    ]
    for value, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, other, rtol=2e-4, atol=2e-6)
    kernel = model.layers[0].kernel
    assert kernel._value.is_fully_replicated == (kind == "zero1")
    assert kernel.shape == (12, 16)  # also after updates of its shards


def test_gradients_are_scattered_and_only_weights_are_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    programs: list[Any] = []
    compile_lowered = jax.stages.Lowered.compile

    def note(self: Any, *args: Any, **kwargs: Any) -> Any:
        programs.append(compile_lowered(self, *args, **kwargs))
        return programs[-1]

    monkeypatch.setattr(jax.stages.Lowered, "compile", note)
    monkeypatch.setattr(_concrete, "_compiled", {})
    strategy = STRATEGIES["zero3"]()
    with strategy.scope():
        kernel = keras.Variable(np.ones((8, 4), "float32"), name="kernel")
        optimizer = keras.optimizers.Adam(0.1)
        optimizer.build([kernel])

    def step(x: Any) -> None:
        with unisono.GradientTape() as tape:
            loss = keras.ops.sum(keras.ops.matmul(x, kernel) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, kernel), kernel)])

    rows = unisono.data.Dataset.from_tensor_slices(np.ones((8, 8), "float32")).batch(8)
    (batch,) = strategy.experimental_distribute_dataset(rows)
    strategy.run(step, args=(batch,))
    text = programs[-1].as_text()
    found = collections.Counter(re.findall(r" (all-gather|all-reduce|reduce-scatter)\(", text))
    assert found == {"all-gather": 1, "reduce-scatter": 1}


def test_values_of_the_replicas_of_a_mesh() -> None:
    strategy = STRATEGIES["mesh"]()
    assert strategy.num_replicas_in_sync == 2
    dataset = strategy.distribute_datasets_from_function(
        lambda context: unisono.data.Dataset.range(8).batch(context.get_per_replica_batch_size(4))
    )
    first = next(iter(dataset))
    assert [value.tolist() for value in strategy.experimental_local_results(first)] == [[0, 1], [2, 3]]
    doubled = strategy.run(lambda x: 2 * x, args=(first,))
    assert [value.tolist() for value in doubled.values] == [[0, 2], [4, 6]]
    numbers = strategy.experimental_distribute_values_from_function(lambda context: context.replica_id_in_sync_group)
    assert strategy.reduce("SUM", strategy.run(lambda x: x + 1, args=(numbers,))).tolist() == 3
    assert strategy.gather(doubled, axis=0).tolist() == [0, 2, 4, 6]
    with strategy.scope():
        total = keras.Variable(0.0, aggregation="sum", synchronization="on_read", trainable=False)
        table = keras.Variable(np.ones((4, 6), "float32"))
    strategy.run(lambda x: total.assign_add(keras.ops.sum(keras.ops.cast(x, "float32"))), args=(first,))
    assert float(total.value) == 6
    assert [value.tolist() for value in total.values] == [1, 5]
    assert [value.shape for value in table.values] == [(4, 6)] * 2
