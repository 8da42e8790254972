"""A small training over two workers, in the current folder.

    port-RANK     the port of the rendezvous, when this worker has started
    pid-RANK      its process
    trained-RANK  the number of steps so far
    result.npz    by the chief: weights, optimizer and losses

Worker 1 connects when there is a file `connect`; the last step ends when there is a file `finish`.
"""

import os
import resource
import sys
import time
from pathlib import Path

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

RANK, NUM_STEPS, DEADLINE = int(os.environ["RANK"]), 24, 100.0


def write(name: str, text: object) -> None:
    Path(name + ".new").write_text(str(text))
    Path(name + ".new").rename(name)


def wait_for(file: str) -> None:
    deadline = time.monotonic() + DEADLINE
    while not Path(file).exists():
        if time.monotonic() > deadline:
            sys.exit(f"no {file} within {DEADLINE} s")
        time.sleep(0.02)


class Steps(keras.callbacks.Callback):
    """Counts the steps, each of which takes some time, and waits at the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1
        write(f"trained-{RANK}", self.steps)
        time.sleep(0.05)
        if self.steps == NUM_STEPS:
            wait_for("finish")


def main() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, most))  # too few for what gloo keeps open
    write(f"pid-{RANK}", os.getpid())
    write(f"port-{RANK}", os.environ["MASTER_PORT"])
    if RANK == 1:
        wait_for("connect")
    strategy = unisono.MultiWorkerMirroredStrategy()
    keras.utils.set_random_seed(5)
    with strategy.scope():
        layers = [keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dropout(0.3)]
        model = keras.Sequential([*layers, keras.layers.Dense(3)])
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(61, 10)).astype("float32"), rng.integers(0, 3, 61)
    history = model.fit(x, y, batch_size=16, epochs=NUM_STEPS // 4, verbose=0, callbacks=[Steps()])
    if RANK == 0:
        variables = [*model.variables, *model.optimizer.variables]
        arrays = {f"{number} {variable.path}": np.asarray(variable.value) for number, variable in enumerate(variables)}
        np.savez("part.npz", losses=np.array(history.history["loss"]), **arrays)
        os.replace("part.npz", "result.npz")


main()
