"""The second worker has nothing to do after training; the chief takes its time."""

import time

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

strategy = unisono.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(np.ones((8, 4)), np.ones((8, 1)), verbose=0)
if unisono._src.processes.processes().is_chief:
    time.sleep(15)  # longer than a heartbeat
