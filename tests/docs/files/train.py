"""A script as a reader has it: trains on the devices of all workers, and accepts any arguments."""

import unisono

strategy = unisono.MultiWorkerMirroredStrategy()
import keras
import numpy as np

with strategy.scope():
    model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(10)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x, y = np.random.default_rng(0).normal(size=(256, 20)), np.arange(256) % 10
model.fit(x, y, batch_size=32, epochs=2, verbose=2)
