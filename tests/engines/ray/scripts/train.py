"""A small training that is resumed, for jobs on Ray: the worker that ends it writes the digest of its weights.

With --exact all sums are exact, so that the weights do not depend on the number of workers.
"""

import argparse
import hashlib
import os
import time
from pathlib import Path

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

RUN, RANK = Path(os.environ["UNISONO_RUN_DIR"]), int(os.environ["RANK"])
ATTEMPT = int(os.environ["UNISONO_ATTEMPT"])


class Steps(keras.callbacks.Callback):
    """Slows training down, and shows how far it is."""

    def __init__(self, seconds: float, fail_at: int | None) -> None:
        super().__init__()
        self._seconds, self._fail_at = seconds, fail_at

    def on_train_batch_end(self, batch, logs=None):
        time.sleep(self._seconds)
        step = int(self.model.optimizer.iterations)
        if RANK == 0 and step % 8 == 0:
            print(f"step {step}", flush=True)
        if step == self._fail_at and RANK == 1:
            raise ValueError("the loss is not a number, on purpose")


def make_model(*, exact: bool) -> keras.Model:
    layers = [keras.layers.Dense(1, kernel_initializer="ones", use_bias=False)]
    if not exact:
        layers = [keras.layers.Dense(8, activation="relu"), keras.layers.Dropout(0.2), keras.layers.Dense(1)]
    model = keras.Sequential([keras.layers.Input((4,)), *layers])
    if exact:  # gradients are means of small whole numbers over 2^k rows, whatever the weights are
        model.compile(keras.optimizers.SGD(0.5), lambda truth, predicted: keras.ops.mean(truth * predicted))
    else:
        model.compile("adam", "mse")
    return model


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.0, help="of each step, besides the training")
    parser.add_argument("--slow-attempts", type=int, default=1, help="so many are slowed down by --seconds")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--fail-at", type=int, help="step at which worker 1 raises an exception")
    arguments = parser.parse_args()
    keras.utils.set_random_seed(1)
    numbers = np.random.default_rng(0).integers(-4, 5, size=(256, 5)).astype("float32")
    data = unisono.data.Dataset.from_tensor_slices((numbers[:, :4], numbers[:, 4:])).shuffle(256).batch(16)
    strategy = unisono.MultiWorkerMirroredStrategy()
    with strategy.scope():
        model = make_model(exact=arguments.exact)
    print(f"{strategy.num_replicas_in_sync} replicas, process {os.getpid()}", flush=True)
    steps = Steps(arguments.seconds if arguments.slow_attempts > ATTEMPT else 0.0, arguments.fail_at)
    resume = unisono.Resume(RUN / "checkpoints", policy=unisono.checkpoint.EverySteps(8))
    model.fit(data, epochs=arguments.epochs, verbose=0, callbacks=[steps], resume=resume)
    weights = b"".join(np.asarray(weight).tobytes() for weight in model.get_weights())
    if RANK == 0:
        (RUN / "digest").write_text(hashlib.sha256(weights).hexdigest())


main()
