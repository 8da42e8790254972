"""The loops of the guides against one device: four forms, three optimizers, with and without batch normalisation.

Tolerance: each loss to 1e-5 of itself, each weight to 2e-5 of the largest of its variable (rows are summed in another
order, and Adam and RMSprop divide by the size of the gradient), the accuracy to the bit. TensorFlow's own test allows
1e-3 for all three.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import product
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy

from ._oracle import Answer, global_batches, train_on_one_device
from ._replicas import batches, mirrored

pytestmark = pytest.mark.slow

NUM_ROWS, BATCH, EPOCHS, STEPS = 66, 32, 2, 3
RANDOM = np.random.default_rng(1337)
X = RANDOM.random((NUM_ROWS, 3), np.float32)
Y = np.eye(3, dtype=np.float32)[X.argmax(1)]

OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: keras.optimizers.SGD(0.2),
    "adam": lambda: keras.optimizers.Adam(0.01),
    "rmsprop": lambda: keras.optimizers.RMSprop(0.01),
}


def make_model(normalisation: str) -> keras.Model:
    """tanh, not relu: its gradient does not jump where the rounding decides. No bias in front of a normalisation, whose
    gradient would be nothing but rounding, which Adam and RMSprop blow up to a whole step."""
    layers: list[Any] = [
        keras.layers.Dense(10, activation="tanh"),
        keras.layers.Dense(10, use_bias=False, kernel_regularizer=keras.regularizers.L2(1e-2)),
    ]
    if normalisation != "none":
        layers.append(keras.layers.BatchNormalization(synchronized=normalisation == "sync"))
    layers += [keras.layers.Activation("tanh"), keras.layers.Dense(3)]
    return keras.Sequential([keras.Input((3,)), *layers])


def per_example_losses(y: Any, logits: Any) -> Any:
    return keras.losses.categorical_crossentropy(y, logits, from_logits=True)


@functools.cache
def initial_weights(normalised: bool) -> list[Any]:
    keras.utils.set_random_seed(7)
    return make_model("plain" if normalised else "none").get_weights()


@functools.cache
def oracle(optimizer: str, normalised: bool, training: bool = True) -> Answer:
    model = make_model("plain" if normalised else "none")
    model.set_weights(initial_weights(normalised))
    return train_on_one_device(
        model,
        OPTIMIZERS[optimizer](),
        global_batches((X, Y), BATCH, EPOCHS),
        lambda y, logits: keras.ops.sum(per_example_losses(y, logits)) / BATCH,
        keras.metrics.CategoricalAccuracy(),
        training,
    )


class Loop:
    """What all forms of the loop share: model, optimizer, metric and the step of one replica."""

    def __init__(self, strategy: Strategy, optimizer: str, normalisation: str, training: bool = True) -> None:
        self.strategy = strategy
        with strategy.scope():
            self.model = make_model(normalisation)
            self.model.set_weights(initial_weights(normalisation != "none"))
            self.optimizer = OPTIMIZERS[optimizer]()
            self.accuracy = keras.metrics.CategoricalAccuracy()

        @unisono.function
        def step(inputs: Any) -> Any:
            x, y = inputs
            with unisono.GradientTape() as tape:
                logits = self.model(x, training=training)
                losses = per_example_losses(y, logits)
                loss = unisono.nn.compute_average_loss(losses, global_batch_size=BATCH)
                loss += unisono.nn.scale_regularization_loss(self.model.losses)
            variables = self.model.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            self.accuracy.update_state(y, logits)
            return loss

        self.step = step

    def reduced(self, inputs: Any) -> Any:
        return self.strategy.reduce("SUM", self.strategy.run(self.step, args=(inputs,)), axis=None)

    def answer(self, losses: list[Any]) -> Answer:
        return Answer(self.model.get_weights(), [float(x) for x in losses], float(self.accuracy.result()))


def dataset_outside(loop: Loop, data: Any) -> list[Any]:
    step = unisono.function(loop.reduced)
    return [step(x) for _ in range(EPOCHS) for x in data]


def iterator_outside(loop: Loop, data: Any) -> list[Any]:
    step = unisono.function(loop.reduced)
    losses = []
    for _ in range(EPOCHS):
        with iter(data) as iterator:
            losses += [step(next(iterator)) for _ in range(STEPS)]
    return losses


def dataset_inside(loop: Loop, data: Any) -> list[Any]:
    @unisono.function
    def epoch(data: Any) -> Any:
        return [loop.reduced(x) for x in data]

    return [loss for _ in range(EPOCHS) for loss in epoch(data)]


def iterator_inside(loop: Loop, data: Any) -> list[Any]:
    @unisono.function
    def epoch(data: Any) -> Any:
        iterator = iter(data)
        return [loop.reduced(next(iterator)) for _ in range(STEPS)]

    return [loss for _ in range(EPOCHS) for loss in epoch(data)]


FORMS = {form.__name__: form for form in (dataset_outside, iterator_outside, dataset_inside, iterator_inside)}
REPLICAS = (1, 2, 4)


def cells() -> list[Any]:
    """Every combination, 72. By default 6 of them run, chosen so that each choice occurs; the rest is marked `full`."""
    found = []
    for (f, form), (o, optimizer), (n, normalisation), (r, replicas) in product(
        enumerate(FORMS), enumerate(OPTIMIZERS), enumerate(["none", "sync"]), enumerate(REPLICAS)
    ):
        is_default = (f + o) % 2 == 0 and (r, n) == ((f + o) % 3, (f // 2 + o) % 2)
        marks = [] if is_default else [pytest.mark.full]
        name = f"{form}-{optimizer}-{normalisation}-{replicas}"
        found.append(pytest.param(form, optimizer, normalisation, replicas, id=name, marks=marks))
    return found


def assert_equal(found: Answer, expected: Answer) -> None:
    np.testing.assert_allclose(found.losses, expected.losses, rtol=1e-5)
    for ours, theirs in zip(found.weights, expected.weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-5 * max(1.0, float(np.abs(theirs).max())))
    assert found.metric == expected.metric


@pytest.mark.parametrize(("form", "optimizer", "normalisation", "replicas"), cells())
def test_a_loop_has_the_losses_the_weights_and_the_accuracy_of_one_device(
    form: str, optimizer: str, normalisation: str, replicas: int
) -> None:
    """66 rows in batches of 32: each epoch ends with two rows, which four replicas cannot share."""
    strategy = mirrored(replicas)
    loop = Loop(strategy, optimizer, normalisation)
    found = loop.answer(FORMS[form](loop, batches(strategy, (X, Y), BATCH)))
    assert_equal(found, oracle(optimizer, normalisation != "none"))


def test_the_loop_learns() -> None:
    """So that the comparison is one of something."""
    answer = oracle("sgd", normalised=False)
    assert answer.losses[3] < answer.losses[0]
    assert answer.metric is not None
    assert 0 < answer.metric < 1


def test_the_default_strategy_is_that_one_device() -> None:
    """The same lines outside every scope."""
    loop = Loop(unisono.get_strategy(), "adam", "none")
    found = loop.answer(dataset_outside(loop, batches(unisono.get_strategy(), (X, Y), BATCH)))
    assert_equal(found, oracle("adam", normalised=False))


@pytest.mark.full
def test_at_inference_normalisation_is_that_of_one_device(several: Strategy) -> None:
    """As in TensorFlow's own test, whose model is called without training=True."""
    loop = Loop(several, "sgd", "plain", training=False)
    found = loop.answer(dataset_outside(loop, batches(several, (X, Y), BATCH)))
    assert_equal(found, oracle("sgd", normalised=True, training=False))


@pytest.mark.full
def test_normalisation_by_replica_is_not_that_of_one_device(several: Strategy) -> None:
    """Each replica normalises by its own rows, as TensorFlow's do: the comparison above must fail."""
    loop = Loop(several, "sgd", "plain")
    found = loop.answer(iterator_outside(loop, batches(several, (X, Y), BATCH)))
    expected = oracle("sgd", normalised=True)
    assert max(np.abs(a - b).max() for a, b in zip(found.weights, expected.weights, strict=True)) > 1e-3


@pytest.mark.full
def test_normalisation_with_a_replica_that_has_no_rows(several: Strategy) -> None:
    """One row less than replicas, an image model: trained without NaN, as on one device."""
    number = several.num_replicas_in_sync
    images = RANDOM.random((number - 1, 8, 8, 1), np.float32)
    labels = np.arange(number - 1) % 3

    def make() -> keras.Model:
        layers = [
            keras.layers.Conv2D(4, 3, use_bias=False),
            keras.layers.BatchNormalization(),
            keras.layers.Activation("tanh"),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(3),
        ]
        return keras.Sequential([keras.Input((8, 8, 1)), *layers])

    def losses_of(y: Any, logits: Any) -> Any:
        return keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)

    plain = make()
    with several.scope():
        model, optimizer = make(), keras.optimizers.SGD(0.1)
        model.set_weights(plain.get_weights())
    expected = train_on_one_device(
        plain,
        keras.optimizers.SGD(0.1),
        [(images, labels)] * 2,
        lambda y, logits: keras.ops.sum(losses_of(y, logits)) / number,
    )

    def step(inputs: Any) -> Any:
        x, y = inputs
        with unisono.GradientTape() as tape:
            loss = unisono.nn.compute_average_loss(losses_of(y, model(x, training=True)), global_batch_size=number)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    train_step = unisono.function(lambda x: several.reduce("SUM", several.run(step, args=(x,)), axis=None))
    losses = [float(train_step(x)) for _ in range(2) for x in batches(several, (images, labels), number)]
    assert_equal(Answer(model.get_weights(), losses), expected)
