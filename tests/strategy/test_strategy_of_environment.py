"""`UNISONO_STRATEGY`: the mirrored strategies of a script that nobody changed divide their variables."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

import unisono
import unisono.tf as tf
from unisono._src.strategy import Strategy

DEVICES = ["cpu:0", "cpu:1"]


def _train(strategy: Strategy) -> tuple[Any, Any, list[Any]]:
    """Whether the kernel and its momentum are divided, and the weights after two steps."""
    keras.utils.set_random_seed(3)
    with strategy.scope():
        model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(32)])
        model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "mse")
    x = np.linspace(-1, 1, 8 * 64, dtype="float32").reshape(8, 64)
    model.fit(x, x[:, :32], batch_size=4, shuffle=False, verbose=0)
    kernel = model.layers[-1].kernel
    (momentum,) = [each for each in model.optimizer.variables if each.shape == kernel.shape]
    divided = [not variable.value.is_fully_replicated for variable in (kernel, momentum)]
    return divided[0], divided[1], model.get_weights()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "divides_weights", "divides_slots"), [("sharded", True, True), ("sharded-optimizer", False, True)]
)
def test_a_mirrored_strategy_is_sharded(
    monkeypatch: pytest.MonkeyPatch, value: str, divides_weights: bool, divides_slots: bool
) -> None:
    *none, expected = _train(unisono.MirroredStrategy(DEVICES))
    assert none == [False, False]
    monkeypatch.setenv("UNISONO_STRATEGY", value)
    strategy = tf.distribute.MirroredStrategy(DEVICES)
    assert isinstance(strategy, unisono.MirroredStrategy)
    *divided, weights = _train(strategy)
    assert divided == [divides_weights, divides_slots]
    for one, other in zip(weights, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "make", [unisono.MultiWorkerMirroredStrategy, tf.distribute.experimental.CentralStorageStrategy]
)
def test_strategies_of_workers_are_sharded_and_central_storage_is_not(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], Strategy]
) -> None:
    monkeypatch.setenv("UNISONO_STRATEGY", "sharded")
    assert make().placement.shards_variables is (make is unisono.MultiWorkerMirroredStrategy)
