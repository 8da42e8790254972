"""A custom training loop that resumes where the last process of the same folder was: FOLDER REPLICAS STEPS [OPTION…].

Each step writes a line, its number and the rows it trained on, so that the test sees what was done, and what was done
twice. With "no-dropout" the result does not depend on the number of replicas, whose random numbers differ;
"die-writing" kills the process when the third of its checkpoints is written but for its name.
"""

import json
import os
import signal
import sys
from pathlib import Path

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

from unisono.checkpoint import Checkpoint, CheckpointManager, EverySteps

ROWS, GLOBAL_BATCH, SAVE_EVERY = 29, 8, 4  # the last batch of a pass has five rows, which do not divide
folder, replicas, steps, options = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]

keras.utils.set_random_seed(5)
strategy = unisono.MirroredStrategy([f"cpu:{index}" for index in range(replicas)])
with strategy.scope():
    dropout = [] if "no-dropout" in options else [keras.layers.Dropout(0.3)]
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, "tanh"), *dropout, keras.layers.Dense(1)])
    optimizer = keras.optimizers.Adam(0.01)
    loss_of = keras.losses.MeanSquaredError(reduction="none")
    mean_loss = keras.metrics.Mean()


def step(x, y):
    with unisono.GradientTape() as tape:
        losses = loss_of(y, model(x, training=True))
        loss = unisono.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    mean_loss.update_state(losses)


@unisono.function
def train_step(batch):
    strategy.run(step, args=batch)


x = np.random.default_rng(0).normal(size=(ROWS, 3)).astype("float32")
x[:, 0] = np.arange(ROWS)
dataset = unisono.data.Dataset.from_tensor_slices((x, x[:, 1:2])).shuffle(ROWS, seed=7).batch(GLOBAL_BATCH).repeat()
iterator = iter(strategy.experimental_distribute_dataset(dataset))

if "die-writing" in options:
    rename, commits = os.rename, []

    def die_at_the_third(source, target, **arguments):
        commits.extend([target] if Path(target).name.startswith("ckpt-") else [])
        if len(commits) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(source, target, **arguments)


checkpoint = Checkpoint(model=model, optimizer=optimizer, loss=mean_loss, data=iterator)
with CheckpointManager(checkpoint, folder / "ckpt", policy=EverySteps(SAVE_EVERY), background=True) as manager:
    manager.restore_or_initialize()
    if "die-writing" in options:
        os.rename = die_at_the_third
    with open(folder / "steps.jsonl", "a", buffering=1) as log:
        while int(optimizer.iterations.value) < steps:
            batch = next(iterator)
            parts = strategy.experimental_local_results(batch[0])
            rows = np.concatenate([np.asarray(part)[:, 0] for part in parts]).astype(int).tolist()
            log.write(json.dumps([int(optimizer.iterations.value), rows]) + "\n")
            train_step(batch)
            manager.save()

iterator.close()
arrays = {variable.path: np.asarray(variable.value) for variable in model.variables + optimizer.variables}
np.savez(folder / "result.npz", loss=np.asarray(mean_loss.result()), **arrays)
