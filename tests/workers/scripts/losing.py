"""Trains; of two workers the second is lost in the same step of every attempt.

Usage: losing.py FOLDER
"""

import os
import signal
import sys
from pathlib import Path

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

folder = Path(sys.argv[1])
strategy = unisono.MultiWorkerMirroredStrategy()
keras.utils.set_random_seed(5)
random = np.random.RandomState(0)
X = random.rand(60, 6).astype("float32")
Y = X[:, :3].argmax(1)


class Lost(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if os.environ.get("RANK") == "1" and int(self.model.optimizer.iterations) == 8:
            os.kill(os.getpid(), signal.SIGKILL)


with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dense(3, "softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy")
resume = unisono._src.training.Resume(folder / "run", policy=unisono.checkpoint.EverySteps(3))
history = model.fit(X, Y, batch_size=12, epochs=3, verbose=0, callbacks=[Lost()], resume=resume)
if unisono._src.processes.processes().is_chief:
    workers = unisono._src.processes.processes().count
    np.savez(folder / "result.npz", *model.get_weights(), loss=history.history["loss"], workers=workers)
