"""A script as users write it, for the tests of `unisono plan`. The argument names the strategy."""

import sys
from pathlib import Path

import keras
import numpy as np

import unisono

kind, folder = sys.argv[1], Path(sys.argv[2])
strategy = {
    "mirrored": lambda: unisono.MirroredStrategy(),
    "workers": lambda: unisono.MultiWorkerMirroredStrategy(),
    "sharded": lambda: unisono.FullyShardedStrategy(),
    "mesh": lambda: unisono.ModelParallelStrategy({"batch": 1, "model": 2}, devices=["cpu:0", "cpu:1"]),
    "loop": lambda: unisono.MirroredStrategy(),
}[kind]()

x = np.random.default_rng(0).normal(size=(256, 32)).astype("float32")
y = x.sum(axis=1, keepdims=True)

with strategy.scope():
    model = keras.Sequential([keras.Input((32,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse")

if kind != "loop":
    before = model.get_weights()
    try:
        model.fit(x, y, batch_size=64, epochs=3, callbacks=[keras.callbacks.ModelCheckpoint(folder / "model.keras")])
    finally:
        after = model.get_weights()
        is_untouched = all((one == other).all() for one, other in zip(before, after, strict=True))
        (folder / "untouched").write_text(str(is_untouched and int(model.optimizer.iterations) == 0))
    (folder / "after").write_text("the code after fit has run")
