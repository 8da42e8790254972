"""`model.fit` under a Unisono strategy."""

from __future__ import annotations

import _data
import keras
from _cases import Workload
from _protocol import Train, serve

import unisono
from contenders._keras_model import compiled_model


def contender(workload: Workload) -> Train:
    strategy = unisono.MirroredStrategy([f"{workload.platform}:{i}" for i in range(workload.replicas)])
    with strategy.scope():
        model = compiled_model(workload.network)
    return rounds_of(workload, model)


def rounds_of(workload: Workload, model: keras.Model) -> Train:
    """Trains one round: one call of `fit`."""
    x, y = _data.load(workload)

    def train() -> tuple[float, float]:
        history = model.fit(
            x, y, batch_size=workload.global_batch_size, epochs=workload.epochs, shuffle=True, verbose=0
        ).history
        return history["loss"][-1], history["accuracy"][-1]

    return train


if __name__ == "__main__":
    serve(contender)
