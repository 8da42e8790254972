"""The two networks in Keras, for every contender that uses it."""

from __future__ import annotations

from typing import Any

import keras


def new_model(network: str) -> Any:
    """A new model, not compiled."""
    keras.utils.set_random_seed(1)
    layers = keras.layers
    if network == "mlp":
        stack = [
            keras.Input((784,)),
            layers.Dense(256, activation="relu"),
            layers.Dense(256, activation="relu"),
            layers.Dense(10),
        ]
    else:
        stack = [
            keras.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(10),
        ]
    return keras.Sequential(stack)


def compiled_model(network: str) -> Any:
    """A new model, compiled with Adam, cross-entropy and accuracy."""
    model = new_model(network)
    model.compile(
        optimizer=keras.optimizers.Adam(),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model
