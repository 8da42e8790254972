"""Small models and data for the tests of training."""

from collections.abc import Callable
from typing import Any

import jax
import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy


@pytest.fixture(scope="module")
def pair() -> Strategy:
    return unisono.MirroredStrategy(["cpu:0", "cpu:1"])


@pytest.fixture(scope="module")
def xy() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    x = random.normal(size=(22, 4)).astype("float32")
    return x, (x.sum(axis=1, keepdims=True) > 0).astype("float32")


@pytest.fixture
def make_model(pair: Strategy) -> Callable[..., Any]:
    """Makes a compiled model of two layers on two replicas."""

    def make(**compile_arguments: Any) -> Any:
        keras.utils.set_random_seed(7)
        with pair.scope():
            model = keras.Sequential(
                [
                    keras.Input((4,)),
                    keras.layers.Dense(5, activation="tanh"),
                    keras.layers.Dense(1, activation="sigmoid"),
                ]
            )
            model.compile(**{"optimizer": keras.optimizers.SGD(0.1), "loss": "mse", **compile_arguments})
        return model

    return make


class Probe(keras.Model):
    """Learns nothing; its logs say which rows each step saw."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = self.add_weight(shape=(), name="weight")

    def call(self, x: Any) -> Any:
        return x * self.weight

    def train_step(self, state: Any, data: Any) -> tuple[Any, Any]:
        x, *_ = data if isinstance(data, tuple) else (data,)
        return {"rows": x.shape[0], "sum": jax.numpy.sum(x), "first": x.reshape(-1)[0]}, state


@pytest.fixture
def probe(pair: Strategy) -> Probe:
    with pair.scope():
        model = Probe()
        model.compile("sgd")
    return model


class EveryStep(keras.callbacks.Callback):
    """Collects the logs of every step."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[tuple[int, int, dict[str, float]]] = []

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.steps.append((self.epoch, batch, logs))

    def column(self, name: str) -> list[float]:
        return [logs[name] for _, _, logs in self.steps]


@pytest.fixture
def every_step() -> EveryStep:
    return EveryStep()
