"""What `strategy.explain` counts: the bytes of shards, and the bytes of activations that can be computed by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import pytest

import unisono
from tests.device_memory._state import bytes_of_devices
from unisono._src.strategy import Strategy

FOUR = [f"cpu:{index}" for index in range(4)]

STRATEGIES: dict[str, Callable[[], Strategy]] = {
    "mirrored": lambda: unisono.MirroredStrategy(FOUR),
    "zero3": lambda: unisono.FullyShardedStrategy(FOUR, min_shard_size=0),
    "zero1": lambda: unisono.FullyShardedStrategy(FOUR, shard="optimizer", min_shard_size=0),
    "groups": lambda: unisono.FullyShardedStrategy(FOUR, shard_group=2, min_shard_size=0),
    "mesh": lambda: unisono.ModelParallelStrategy({"batch": 2, "model": 2}, devices=FOUR),
}


def explain(strategy: Strategy, model: keras.Model) -> Any:
    return strategy.explain(model, lambda text: None)


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_bytes_per_device_are_those_of_the_shards(name: str) -> None:
    strategy = STRATEGIES[name]()
    with strategy.scope():
        # 12, 16 and 10 units: divisible by 4, by 2, and a bias of 10 that none of the meshes of 4 divides.
        hidden = [keras.layers.Dense(16), keras.layers.BatchNormalization(), keras.layers.Dense(10)]
        model = keras.Sequential([keras.Input((12,)), *hidden, keras.layers.Dense(3)])
        model.compile(keras.optimizers.Adam())
        model.optimizer.build(model.trainable_variables)
    report = explain(strategy, model)
    variables = [*model.variables, *model.optimizer.variables]
    assert [row.path for row in report.rows] == [variable.path for variable in variables]
    for row, variable in zip(report.rows, variables, strict=True):
        assert set(bytes_of_devices([variable]).values()) == {row.device_nbytes}, row
        assert row.nbytes == variable.numpy().nbytes
    stored = bytes_of_devices(variables)
    assert len(stored) == 4
    assert set(stored.values()) == {report.device_nbytes}
    assert (report.device_nbytes < report.nbytes) is (name != "mirrored")


def test_the_bytes_that_a_step_moves_can_be_computed() -> None:
    with (strategy := STRATEGIES["zero3"]()).scope():
        model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(16, use_bias=False)])
    report = explain(strategy, model)
    missing = 12 * 16 * 4 * 3 // 4  # three quarters of the kernel are on other devices
    assert (report.gathered, report.scattered) == (2 * missing, missing)


def make_block(name: str) -> keras.Model:
    return keras.Sequential([keras.layers.Dense(32, "relu"), keras.layers.Dense(8)], name=name)


# For each row: 8 inputs and 32 hidden units in float32, and for each of these whether relu lets its gradient through.
INPUTS, HIDDEN, SIGNS = 8 * 4, 32 * 4, 32


@pytest.mark.parametrize(
    ("name", "policy", "kept"),
    [("zero3", "nothing", INPUTS), ("zero3", "dots", INPUTS + HIDDEN), ("mesh", "nothing", INPUTS)],
)
def test_the_activations_of_a_block_can_be_computed(name: str, policy: str, kept: int) -> None:
    around = unisono.remat(policy=policy)
    with (strategy := STRATEGIES[name]()).scope():
        inputs = keras.Input((8,))
        x = around(make_block("one"))(inputs)
        model = keras.Model(inputs, around(make_block("two"))(x))
    report = explain(strategy, model)
    assert [(row.policy, row.kept, row.kept_without) for row in report.rematerialized] == [
        (policy, kept, INPUTS + HIDDEN + SIGNS)
    ] * 2
    holder = "replica" if name == "mesh" else "device"
    assert report.lines[-3:] == (
        f"one: activations are computed again ({policy}); {kept} B per row are kept instead of 192 B.",
        f"two: activations are computed again ({policy}); {kept} B per row are kept instead of 192 B.",
        f"Rematerialization: for each row of its batch, each {holder} keeps {2 * kept} B of activations of these "
        "layers for the backward pass instead of 384 B.",
    )


def test_a_layer_inside_of_another_one_is_counted_once_in_the_total() -> None:
    with (strategy := STRATEGIES["zero3"]()).scope(), keras.RematScope("full"):
        block = make_block("block")
        model = keras.Sequential([keras.Input((8,)), block])
    report = explain(strategy, model)
    kept = {row.path: row.kept for row in report.rematerialized}
    assert len(kept) > 2, kept
    assert f"keeps {INPUTS} B of activations" in report.lines[-1]
    assert "instead of 192 B" in report.lines[-1]


def test_a_block_that_is_called_twice_keeps_the_activations_of_both_calls() -> None:
    with (strategy := STRATEGIES["zero3"]()).scope():
        inputs, block = keras.Input((8,)), unisono.remat(make_block("block"))
        model = keras.Model(inputs, block(block(inputs)))
    (row,) = explain(strategy, model).rematerialized
    assert (row.kept, row.kept_without) == (2 * INPUTS, 2 * (INPUTS + HIDDEN + SIGNS))


def test_a_block_of_mixed_precision_keeps_half_of_the_bytes() -> None:
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        with (strategy := STRATEGIES["zero3"]()).scope():
            inputs = keras.Input((8,), dtype="bfloat16")
            model = keras.Model(inputs, unisono.remat(make_block("block"))(inputs))
    finally:
        keras.config.set_dtype_policy(before)
    (row,) = explain(strategy, model).rematerialized
    assert (row.kept, row.kept_without) == (INPUTS // 2, (INPUTS + HIDDEN) // 2 + SIGNS)


def test_without_the_shapes_of_the_inputs_the_activations_are_not_counted() -> None:
    with (strategy := STRATEGIES["zero3"]()).scope():
        inputs = keras.Input((None, 8))
        model = keras.Model(inputs, unisono.remat(make_block("block"))(inputs))
    report = explain(strategy, model)
    (row,) = report.rematerialized
    assert (row.kept, row.kept_without) == (None, None)
    assert report.lines[-1].endswith("is counted for models with a keras.Input of known shape.")
