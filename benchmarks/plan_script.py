"""The script that `plan.py` plans and runs: a network, a strategy, and a `fit` that says how long its steps take.

```
plan_script.py NETWORK mirrored|sharded [NUMBER OF DEVICES]
plan_script.py NETWORK workers
```
"""

import sys
import time

import keras
import numpy as np

import unisono

NETWORK, STRATEGY = sys.argv[1], sys.argv[2]
DEVICES = [f"cpu:{index}" for index in range(int(sys.argv[3]))] if len(sys.argv) > 3 else None
EPOCHS = 4  # programs are compiled in the first one, and the number of steps per call settles


class StepClock(keras.callbacks.Callback):
    """Milliseconds of a step in each epoch."""

    def __init__(self, steps: int):
        super().__init__()
        self.steps, self.milliseconds = steps, []

    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        self.milliseconds.append(1e3 * (time.perf_counter() - self.began) / self.steps)


def make_network() -> keras.Model:
    layers = keras.layers
    if NETWORK == "cnn":
        images = [keras.Input((28, 28, 1)), layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D()]
        return keras.Sequential([*images, layers.Flatten(), layers.Dense(64, activation="relu"), layers.Dense(10)])
    width = {"mlp": 256, "wide": 1024}[NETWORK]
    dense = [layers.Dense(width, activation="relu") for _ in range(2)]
    return keras.Sequential([keras.Input((784,)), *dense, layers.Dense(10)])


if STRATEGY == "workers":
    strategy = unisono.MultiWorkerMirroredStrategy()
else:
    strategy = {"mirrored": unisono.MirroredStrategy, "sharded": unisono.FullyShardedStrategy}[STRATEGY](DEVICES)
BATCH, STEPS = {"mlp": (256, 400), "cnn": (64, 100), "wide": (256, 100)}[NETWORK]
random = np.random.default_rng(0)
shape = (28, 28, 1) if NETWORK == "cnn" else (784,)
x = random.random((BATCH * STEPS, *shape), dtype="float32")
y = random.integers(0, 10, BATCH * STEPS)

with strategy.scope():
    model = make_network()
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
clock = StepClock(STEPS)
model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=0, callbacks=[clock])
print(f"milliseconds={min(clock.milliseconds[1:])}", flush=True)
