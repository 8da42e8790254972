"""The random generator of the process is a strategy's only while it trains."""

from typing import Any

import jax
import keras
import numpy as np
import pytest
from keras.src.random.seed_generator import global_seed_generator

import unisono
from unisono._src.strategy import Strategy

pytestmark = pytest.mark.slow

X, Y = np.ones((8, 3), "float32"), np.ones((8, 1), "float32")


class Noisy(keras.Model):
    """Its steps draw without a seed."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = keras.layers.Dense(1)

    def call(self, x: Any) -> Any:
        return self.layer(x)

    def train_step(self, data: Any) -> Any:
        x, y = data
        return super().train_step((x + keras.random.normal(x.shape), y))

    def test_step(self, data: Any) -> Any:
        x, y = data
        return super().test_step((x + keras.random.normal(x.shape), y))


def noisy(strategy: Strategy) -> Noisy:
    with strategy.scope():
        model = Noisy()
        model.compile("sgd", "mse")
    return model


@pytest.fixture(scope="module")
def model(pair: Strategy) -> Noisy:
    return noisy(pair)


def meets_any_device() -> bool:
    """Whether what the generator draws can be added to an array of any device."""
    for device in (jax.devices()[0], jax.devices()[-1]):
        keras.random.normal(()) + jax.device_put(np.float32(1), device)
    return True


@pytest.mark.full
def test_after_a_fit_what_it_draws_meets_arrays_of_any_device(model: Noisy) -> None:
    model.fit(X, Y, batch_size=4, verbose=0, validation_data=(X, Y))
    assert meets_any_device()
    model.evaluate(X, Y, batch_size=4, verbose=0)
    assert meets_any_device()
    model.train_on_batch(X, Y)
    assert meets_any_device()


def test_it_comes_back_from_a_fit_that_failed(model: Noisy) -> None:
    class Failing(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            raise RuntimeError("a callback of the user")

    with pytest.raises(RuntimeError, match="a callback of the user"):
        model.fit(X, Y, batch_size=4, verbose=0, callbacks=[Failing()])
    assert meets_any_device()


def test_a_callback_may_evaluate_another_model_while_the_generator_is_borrowed(pair: Strategy, model: Noisy) -> None:
    other = noisy(pair)

    class Evaluating(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            other.evaluate(X, Y, batch_size=4, verbose=0)
            num_devices.append(len(global_seed_generator().state.value.devices()))

    num_devices: list[int] = []
    model.fit(X, Y, batch_size=4, epochs=3, verbose=0, callbacks=[Evaluating()])
    assert num_devices == [2, 2, 2]
    assert meets_any_device()


@pytest.mark.slow
def test_it_goes_from_one_strategy_to_the_next(model: Noisy) -> None:
    other = noisy(unisono.OneDeviceStrategy("cpu:2"))
    for each in (model, other, model):
        each.fit(X, Y, batch_size=4, verbose=0)
    assert meets_any_device()


def test_a_fit_counts_on_from_what_was_drawn_before(model: Noisy) -> None:
    """Two fits of one epoch draw what one of two epochs draws: nothing is drawn twice, or left out."""
    keras.utils.set_random_seed(3)
    model.fit(X, Y, batch_size=4, epochs=2, verbose=0)
    at_once = float(keras.random.normal(()))
    keras.utils.set_random_seed(3)
    for _ in range(2):
        model.fit(X, Y, batch_size=4, verbose=0)
    assert float(keras.random.normal(())) == at_once
