"""A training whose checkpoints are at a URL: URL RESULT STEP. The process of rank 0 kills itself after STEP, unless it
is 0. With several workers the state is sharded over them, and each writes its part. RESULT gets all values at the end.
"""

import os
import signal
import sys

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

import tests.object_store  # noqa: F401 (registers objects://)
from unisono._src.processes import processes
from unisono.checkpoint import EverySteps

url, result, kill_at = sys.argv[1], sys.argv[2], int(sys.argv[3])
x = np.random.default_rng(0).normal(size=(48, 8)).astype("float32")
keras.utils.set_random_seed(5)
strategy = unisono.FullyShardedStrategy(min_shard_size=0) if "TF_CONFIG" in os.environ else unisono.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential(
        [keras.Input((8,)), keras.layers.Dense(16), keras.layers.Dropout(0.2), keras.layers.Dense(4)]
    )
    model.compile(keras.optimizers.Adam(0.01), "mse")


class Kill(keras.callbacks.Callback):
    """Ends the process as a machine that fails does."""

    steps = 0

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1
        print("STEP", self.steps, flush=True)
        if self.steps == kill_at and processes().is_chief:
            os.kill(os.getpid(), signal.SIGKILL)


resume = None if url == "none" else unisono.Resume(url, policy=EverySteps(2))
history = model.fit(x, x[:, :4], batch_size=8, epochs=3, verbose=0, resume=resume, callbacks=[Kill()])
values = [variable.numpy() for variable in [*model.variables, *model.optimizer.variables]]
if processes().is_chief:
    np.savez(result, *values, loss=history.history["loss"])
print("STEPS DONE", Kill.steps, flush=True)
