"""Trains a small network on all workers of a job; prints a digest of the final weights. What it can be made to do:

--pace S          worker 0 sleeps S seconds after each step, as long as the file "hold" is in the folder of the run
--kill-at STEP    worker 1 kills itself there, in the first attempt
--raise-at STEP   worker 1 fails there, in every attempt
--folder DIR      the folder of the run, where no launcher sets it
"""

import argparse
import hashlib
import os
import signal
import time
from pathlib import Path

import unisono  # before keras

# isort: split
import keras
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--pace", type=float, default=0.0)
parser.add_argument("--kill-at", type=int)
parser.add_argument("--raise-at", type=int)
parser.add_argument("--folder", type=Path, default=os.environ.get("UNISONO_RUN_DIR"))
args = parser.parse_args()
folder = Path(args.folder)

strategy = unisono.MultiWorkerMirroredStrategy()

rank = strategy.cluster_resolver.task_id
assert strategy.num_replicas_in_sync == 2
first = not any((folder / "checkpoints").glob("fit-1/save-*"))


class Disturb(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        step = int(self.model.optimizer.iterations)
        if rank == 0:
            (folder / "step").write_text(str(step))
            if (folder / "hold").exists():
                time.sleep(args.pace)
        if rank == 1 and step == args.kill_at and first:
            os.kill(os.getpid(), signal.SIGKILL)
        if rank == 1 and step == args.raise_at:
            raise ValueError(f"there is something wrong with step {step}")


rng = np.random.default_rng(0)
x = rng.normal(size=(512, 16)).astype("float32")
y = (x.sum(axis=1) > 0).astype("int32")
keras.utils.set_random_seed(1)
with strategy.scope():
    model = keras.Sequential(
        [
            keras.layers.Input((16,)),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dropout(0.2),
            keras.layers.Dense(2),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss)
data = unisono.data.Dataset.from_tensor_slices((x, y)).shuffle(512).batch(32)
resume = unisono.Resume(str(folder), policy=unisono.checkpoint.EverySteps(4))
model.fit(data, epochs=4, verbose=0, callbacks=[Disturb()], resume=resume)
digest = hashlib.sha256(b"".join(np.asarray(value).tobytes() for value in model.get_weights())).hexdigest()[:16]
print(f"trained {int(model.optimizer.iterations)} steps, weights {digest}", flush=True)
