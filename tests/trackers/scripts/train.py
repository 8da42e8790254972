"""Trains three epochs of eight steps with a tracker. A process of the first attempt may kill itself after a step.

Usage: train.py mlflow|wandb FOLDER [--kill-after STEP] [--kill-rank RANK] [--save-every STEPS] [--fail-after STEP]
"""

import argparse
import os
import signal

import unisono

import keras  # isort: skip
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("tracker", choices=["mlflow", "wandb"])
parser.add_argument("folder")
parser.add_argument("--kill-after", type=int, default=0)
parser.add_argument("--kill-rank", type=int, default=0)
parser.add_argument("--save-every", type=int, default=5)
parser.add_argument("--fail-after", type=int, default=0)
args = parser.parse_args()


class End(keras.callbacks.Callback):
    """Ends this process after a step."""

    def on_train_batch_end(self, batch, logs=None):
        steps = int(self.model.optimizer.iterations.numpy())
        if steps == args.fail_after:
            raise RuntimeError("a mistake in a callback")
        first = os.environ.get("UNISONO_ATTEMPT", "0") == "0"
        if steps == args.kill_after and first and int(os.environ.get("RANK", "0")) == args.kill_rank:
            os.kill(os.getpid(), signal.SIGKILL)


strategy = unisono.MultiWorkerMirroredStrategy()
keras.utils.set_random_seed(0)
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.01), "mse", metrics=["mae"])
x = np.random.default_rng(0).normal(size=(64, 3)).astype("float32")
y = x.sum(axis=1, keepdims=True)

saved = f"{args.folder}/model.keras"
if args.tracker == "mlflow":
    tracker = unisono.callbacks.MLflow(None, "first", {"batch_size": 8}, update_freq=2, artifacts=[saved])
else:
    tracker = unisono.callbacks.Wandb(
        update_freq=2, artifacts=[saved], project="mnist", mode="offline", dir=args.folder, config={"batch_size": 8}
    )
history = model.fit(
    x,
    y,
    batch_size=8,
    epochs=3,
    validation_data=(x, y),
    verbose=0,
    callbacks=[tracker, keras.callbacks.ModelCheckpoint(saved), End()],
    resume=unisono.Resume(f"{args.folder}/run", policy=unisono.checkpoint.EverySteps(args.save_every)),
)
print(f"losses {history.history['val_loss']} run {tracker.run_id!r}", flush=True)
