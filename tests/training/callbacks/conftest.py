"""A small model that belongs to a strategy, and data for it."""

from collections.abc import Callable
from typing import Any

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
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    return x, x.sum(axis=1, keepdims=True)


@pytest.fixture
def make_model(pair: Strategy) -> Callable[..., Any]:
    """Makes a compiled and built model with other weights for another seed; of no strategy if ``scoped`` is false."""

    def make(seed: int = 7, *, scoped: bool = True, optimizer: Any = "adam") -> Any:
        keras.utils.set_random_seed(seed)
        layers = [keras.Input((4,)), keras.layers.Dense(3, name="first"), keras.layers.Dense(1, name="second")]
        if not scoped:
            model = keras.Sequential(layers, name="net")
            model.compile(optimizer, "mse")
            return model
        with pair.scope():
            model = keras.Sequential(layers, name="net")
            model.compile(optimizer, "mse")
        return model

    return make
