"""A model trains what was trainable when it was compiled."""

from typing import Any

import numpy as np
import pytest

import unisono.tf as tf

RNG = np.random.default_rng(0)
IMAGES, NOISE, ONES = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 2)), np.ones((4, 1))


def changed(model: Any, train: Any) -> bool:
    before = [each.copy() for each in model.get_weights()]
    train()
    return any(not np.array_equal(old, new) for old, new in zip(before, model.get_weights(), strict=True))


@pytest.mark.parametrize("replicas", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_the_two_halves_of_a_gan_are_trained_in_turns(replicas: int) -> None:
    devices = [f"cpu:{number}" for number in range(replicas)]
    with (tf.distribute.MirroredStrategy(devices) if replicas else tf.distribute.get_strategy()).scope():
        generator = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,))])
        discriminator = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
        discriminator.compile("sgd", "mse")
        discriminator.trainable = False
        inputs = tf.keras.Input((2,))
        both = tf.keras.Model(inputs, discriminator(generator(inputs)))
        both.compile("sgd", "mse")
    for _ in range(2):
        assert changed(discriminator, lambda: discriminator.train_on_batch(IMAGES, ONES))
        assert not discriminator.trainable
        assert not changed(discriminator, lambda: both.train_on_batch(NOISE, ONES))
        assert changed(generator, lambda: both.train_on_batch(NOISE, ONES))


def test_a_layer_that_is_frozen_counts_from_the_next_compile_on() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(3,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    first = model.layers[0]
    first.trainable = False
    assert changed(first, lambda: model.fit(IMAGES, ONES, verbose=0))
    assert not first.trainable
    assert model.layers[1].trainable
    model.compile("sgd", "mse")
    assert not changed(first, lambda: model.fit(IMAGES, ONES, verbose=0))


def test_flags_are_set_back_when_training_fails() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    model.trainable = False
    with pytest.raises(ValueError, match="incompatible"):
        model.fit(np.ones((4, 7)), ONES, verbose=0)
    assert not model.trainable
    assert not model.layers[0].trainable
