"""Stock `model.fit`, no Unisono in the process. KERAS_BACKEND says which contender this is.

- jax: on several devices `keras.distribution.DataParallel`.
- tensorflow: on several devices `tf.distribute.MirroredStrategy` over logical devices.
"""

from __future__ import annotations

import contextlib
from typing import Any

import _data
import keras
from _cases import Workload
from _protocol import Train, serve

from contenders._keras_model import compiled_model

_WAIT_EVERY = 8


def contender(workload: Workload) -> Train:
    x, y = _data.load(workload)
    with _scope(workload.replicas):
        model = compiled_model(workload.network)
    callbacks = []
    if workload.replicas > 1 and keras.backend.backend() == "jax":
        callbacks.append(BoundedLaunches())

    def train() -> tuple[float, float]:
        history = model.fit(
            x,
            y,
            batch_size=workload.global_batch_size,
            epochs=workload.epochs,
            shuffle=True,
            verbose=0,
            callbacks=callbacks,
        ).history
        return history["loss"][-1], history["accuracy"][-1]

    return train


def _scope(replicas: int) -> contextlib.AbstractContextManager[Any]:
    if replicas == 1:
        return contextlib.nullcontext()
    if keras.backend.backend() == "jax":
        names = [f"cpu:{i}" for i in range(replicas)]
        keras.distribution.set_distribution(keras.distribution.DataParallel(devices=names))
        return contextlib.nullcontext()

    from contenders._tf_strategy import mirrored_strategy  # TensorFlow, which the other backend's environment lacks

    return mirrored_strategy(replicas).scope()  # type: ignore[no-any-return]  # TensorFlow has no types


class BoundedLaunches(keras.callbacks.Callback):  # type: ignore[misc]  # Keras has no types
    """Waits for the device at every eighth step: unbounded, XLA:CPU's collectives deadlock.

    At the *begin* of a batch and on Keras's private state, because a callback that overrides the end of a batch
    makes Keras wait at every step, which would be slower.
    """

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        if batch % _WAIT_EVERY == _WAIT_EVERY - 1:
            import jax

            jax.block_until_ready(self.model._jax_state["metrics_variables"])


if __name__ == "__main__":
    serve(contender)
