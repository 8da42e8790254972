"""One of two workers, each with a folder of its own: calls the hooks of callbacks, and says what they decided."""

import json
import sys
from pathlib import Path

import unisono

import keras  # isort: skip
import numpy as np

from unisono._src.keras_hooks import get_callback_state, restore_callback_state
from unisono._src.processes import processes
from unisono._src.training.callbacks._weights_folder import load_weights_folder
from unisono.callbacks import ModelCheckpoint, TensorBoard

strategy = unisono.MultiWorkerMirroredStrategy()
folder = Path(sys.argv[1]) / f"worker-{processes().index}"
folder.mkdir()


def made(seed: int) -> keras.Model:
    keras.utils.set_random_seed(seed)
    with strategy.scope():
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, name="dense")])
        schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
        model.compile(keras.optimizers.Adam(schedule), "mse")
        model.optimizer.build(model.trainable_variables)
    return model


model = made(0)
x = np.ones((4, 2), "float32")
# The chief alone makes the objects that Keras compares a model with when it is saved, inside fit.
model.fit(x, x[:, :1], verbose=0, callbacks=[ModelCheckpoint(folder / "fit" / "{epoch}.keras")])
model.set_weights([np.full((2, 1), 3.0), np.full(1, 4.0)])
checkpoint = ModelCheckpoint(folder / "ckpt" / "{epoch}", save_weights_only=True, save_best_only=True)
callbacks = [
    checkpoint,
    ModelCheckpoint(folder / "files" / "{epoch}.keras"),
    TensorBoard(folder / "logs", histogram_freq=1, update_freq=1, embeddings_freq=1, profile_batch=1),
]
for callback in callbacks:
    callback.set_model(model)
    callback.on_train_begin()
    for epoch, val_loss in enumerate([0.5, 0.7, 0.4]):
        callback.on_epoch_begin(epoch)
        callback.on_train_batch_begin(0)
        callback.on_train_batch_end(0, {"loss": 0.5})
        callback.on_epoch_end(epoch, {"loss": 0.5, "val_loss": val_loss})
    kept = get_callback_state(callback)
    assert kept is not None
    restore_callback_state(callback, *kept)
    callback.on_train_end()

other = made(1)
load_weights_folder(other, str(folder / "ckpt" / "3"))  # all workers get what the chief reads
files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
weights = [weight.ravel().tolist() for weight in other.get_weights()]
print("said", json.dumps({"best": checkpoint.best, "files": files, "weights": weights}), flush=True)
