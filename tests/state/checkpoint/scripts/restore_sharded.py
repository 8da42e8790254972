"""Workers that restore what other workers, or one process, have saved: PATH OUTPUT STRATEGY.

STRATEGY is "all" or "mesh". The chief writes the values to OUTPUT, and a checkpoint of its own to OUTPUT.ckpt.
"""

import sys

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

from unisono._src.keras_hooks import raw_value
from unisono._src.processes import processes
from unisono.checkpoint import Checkpoint

path, output, kind = sys.argv[1:]
if kind == "mesh":
    strategy = unisono.ModelParallelStrategy({"batch": 2, "model": 2})
else:
    strategy = unisono.FullyShardedStrategy(min_shard_size=0)
with strategy.scope():
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16), keras.layers.Dense(4)])
    model.compile(keras.optimizers.Adam(), "mse")
    model.optimizer.build(model.trainable_variables)
Checkpoint(model=model).restore(path).assert_consumed()
assert not raw_value(model.layers[0].kernel).is_fully_addressable
values = {f"{i} {each.path}": each.numpy() for i, each in enumerate([*model.variables, *model.optimizer.variables])}
if processes().is_chief:
    np.savez(output, **values)
Checkpoint(model=model).write(f"{output}.ckpt")
print("DONE", flush=True)
