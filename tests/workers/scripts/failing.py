"""A job that reaches a certain phase, prints that, and continues there until it is disturbed.

Arguments: the phase, the worker that fails, and "exception" if it fails by itself rather than by a signal.
"""

import sys
import time

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

phase, victim, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
strategy = unisono.MultiWorkerMirroredStrategy()
is_victim = unisono._src.processes.processes().index == victim


def reach(point):
    """Prints that this phase is reached; the victim stays there, or fails."""
    if point == phase:
        print(f"reached {point}", flush=True)
        if is_victim and how == "exception":
            raise ZeroDivisionError(f"on purpose, in {point}")


class Reports(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 3:
            reach("step")

    def on_test_batch_end(self, batch, logs=None):
        if batch == 3:
            reach("evaluate")


def linger():
    """The victim waits to be killed while its peers continue to where they need it."""
    if is_victim:
        time.sleep(200)


reach("start")
if phase == "start":
    linger()
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
x, y = np.ones((64, 4), "float32"), np.ones((64, 1), "float32")
epochs = {"step": 100_000, "evaluate": 1}.get(phase, 1)
model.fit(x, y, batch_size=8, epochs=epochs, verbose=0, callbacks=[Reports()])
for _ in range(100_000 if phase == "evaluate" else 1):
    model.evaluate(x, y, batch_size=8, verbose=0, callbacks=[Reports()])
reach("exit")
if phase == "exit":
    linger()
