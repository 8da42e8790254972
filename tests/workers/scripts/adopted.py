"""A script that joins JAX's processes itself, as Ray's and Kubeflow's workers do, and then makes a strategy."""

import os
import sys
from pathlib import Path

import jax

address, count, rank, with_tf_config, folder = sys.argv[1:]
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(address, int(count), int(rank))
if with_tf_config == "no":
    os.environ.pop("TF_CONFIG", None)

import keras  # noqa: E402
import numpy as np  # noqa: E402

import unisono  # noqa: E402

strategy = unisono.FullyShardedStrategy() if "sharded" in folder else unisono.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])  # without a seed: initial values are agreed on
    model.compile("sgd", "mse")
x = np.random.default_rng(0).normal(size=(60, 4)).astype("float32")
model.fit(x, x[:, :2], batch_size=16, verbose=0)
model.save(Path(folder) / f"{rank}.keras")
np.save(Path(folder) / f"weights-{rank}.npy", model.get_weights()[0])
print("replicas", strategy.num_replicas_in_sync, flush=True)
