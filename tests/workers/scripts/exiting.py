"""One worker calls sys.exit in a step, between two calls of fit, or raises SystemExit in a step.

Arguments: where, and its code.
"""

import sys

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

where, code = sys.argv[1], int(sys.argv[2]) if sys.argv[2].isdigit() else sys.argv[2]
strategy = unisono.MultiWorkerMirroredStrategy()
is_victim = not unisono._src.processes.processes().is_chief


class Exit(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if is_victim and batch == 2 and where == "sys.exit in fit":
            sys.exit(code)
        if is_victim and batch == 2 and where == "SystemExit in fit":
            raise SystemExit(code)


with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
x, y = np.ones((64, 4), "float32"), np.ones((64, 1), "float32")
for _ in range(100):
    model.fit(x, y, batch_size=8, verbose=0, callbacks=[Exit()])
    if is_victim and where == "between":
        sys.exit(code)
