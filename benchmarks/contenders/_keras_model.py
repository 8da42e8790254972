"""The two networks in Keras, for every contender that is `model.fit`."""

from __future__ import annotations

from typing import Any

import keras


def compiled_model(network: str) -> Any:
    """A new model, compiled with Adam, cross-entropy and accuracy."""
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
    model = keras.Sequential(stack)
    model.compile(
        optimizer=keras.optimizers.Adam(),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model
