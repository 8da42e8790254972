"""Trains on Ray, and prints what came of it: the weights' digest, and what Ray knows of the run.

Usage: trainer.py STORAGE NAME WHAT. WHAT: "train", with an uninterrupted run; "kill": worker 1 kills itself once;
"wait": waits in a step for a preemption notice; "wait-kill": the same with restarts; "wait-plain": without resume;
"data", "data-kill": from a Ray Dataset.
"""

import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import unisono  # isort: skip  (before keras)
import keras
import numpy as np
import ray
import ray.data
import ray.train

import unisono.ray
from unisono._src.processes import PreemptionNotice

storage, name, what = sys.argv[1:]
ROWS = 250


def digest_of(model):
    return hashlib.sha256(b"".join(weight.tobytes() for weight in model.get_weights())).hexdigest()[:16]


def train(config):
    strategy = unisono.MultiWorkerMirroredStrategy()
    rank = ray.train.get_context().get_world_rank()
    folder = Path(os.environ["UNISONO_RUN_DIR"])
    killed, waited = folder / "killed", folder / f"waited-{rank}"

    class Steps(keras.callbacks.Callback):
        steps = 0

        def on_train_batch_end(self, batch, logs=None):
            self.steps += 1
            if config["what"].startswith("wait"):
                time.sleep(0.1)  # workers hear of each other's notices once a second
            if config["what"].startswith("wait") and self.steps == 6 and not waited.exists():
                waited.touch()
                print(f"WAITING {rank} on {ray.get_runtime_context().get_node_id()}", flush=True)
                deadline = time.monotonic() + 150
                notice = PreemptionNotice() if config["what"] != "wait-plain" else None
                while not (notice and notice.received) and time.monotonic() < deadline:
                    time.sleep(0.1)
            if config["what"] in ("kill", "data-kill") and rank == 1 and self.steps == 13 and not killed.exists():
                killed.touch()
                os.kill(os.getpid(), signal.SIGKILL)

    keras.utils.set_random_seed(1)
    if config["what"].startswith("data"):
        shard = ray.train.get_dataset_shard("train")
        dataset = unisono.data.Dataset.from_ray(shard).map(lambda row: (row["x"], row["y"])).shuffle(16).batch(32)
    else:
        random = np.random.default_rng(0)
        x = random.normal(size=(ROWS, 6)).astype("float32")
        dataset = unisono.data.Dataset.from_tensor_slices((x, x[:, :3].argmax(1))).shuffle(ROWS).batch(32)
    with strategy.scope():
        layers = [keras.layers.Dense(8, "relu"), keras.layers.Dropout(0.2), keras.layers.Dense(3, "softmax")]
        model = keras.Sequential(layers)
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    steps = Steps()
    every = unisono.Resume(os.environ["UNISONO_RUN_DIR"], policy=unisono.checkpoint.EverySteps(5))
    callbacks = [steps, unisono.ray.ReportCallback()]
    resume = {"wait": True, "wait-plain": None}.get(config["what"], every)
    history = model.fit(dataset, epochs=3, verbose=0, callbacks=callbacks, resume=resume)
    return {
        "digest": digest_of(model),
        "steps": steps.steps,
        "attempt": int(os.environ["UNISONO_ATTEMPT"]),
        "losses": history.history["loss"],
    }


def columns(batch):
    random = np.random.default_rng(int(batch["id"][0]))
    x = random.normal(size=(len(batch["id"]), 6)).astype("float32")
    return {"x": x, "y": x[:, :3].argmax(1)}


datasets = None
if what.startswith("data"):
    datasets = {"train": ray.data.range(ROWS, override_num_blocks=7).map_batches(columns)}
trainer = unisono.ray.Trainer(
    train,
    train_loop_config={"what": what},
    scaling_config=ray.train.ScalingConfig(num_workers=2, placement_strategy="SPREAD"),
    run_config=ray.train.RunConfig(
        name=name,
        storage_path=storage,
        failure_config=ray.train.FailureConfig(max_failures=2 if "kill" in what else 0),
    ),
    datasets=datasets,
)
result = trainer.fit()
with result.checkpoint.as_directory() as folder:
    files = sorted(os.listdir(folder))
    model = keras.Sequential(
        [keras.layers.Dense(8, "relu"), keras.layers.Dropout(0.2), keras.layers.Dense(3, "softmax")]
    )
    model.build((None, 6))
    model.load_weights(folder)
summary = {
    "returned": result.return_value,
    "metrics": result.metrics,
    "checkpoint": result.checkpoint.path,
    "files": files,
    "loaded": digest_of(model),
    "num_checkpoints": len(result.best_checkpoints),
}
print("RESULT", json.dumps(summary), flush=True)
