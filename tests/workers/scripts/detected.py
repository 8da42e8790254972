"""Trains from random weights in the cluster that is detected, and prints which worker this is and what it has."""

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

strategy = unisono.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
rows = np.random.default_rng(0).normal(size=(16, 4))
model.fit(rows, rows.sum(1), batch_size=8, epochs=2, verbose=0)
weights = np.concatenate([value.ravel() for value in model.get_weights()])
resolver = strategy.cluster_resolver
print(f"{type(resolver).__name__}: worker {resolver.task_id} of {strategy.num_replicas_in_sync}")
print(f"weights {weights.tobytes().hex()}")
