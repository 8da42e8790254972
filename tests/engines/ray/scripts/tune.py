"""Two trials of a learning rate with Ray Tune, each a run of Unisono's Trainer.

Usage: tune.py STORAGE
"""

import json
import sys

import unisono  # isort: skip  (before keras)
import keras
import numpy as np
import ray.train
import ray.tune
from ray.tune.integration.ray_train import TuneReportCallback

import unisono.ray

storage = sys.argv[1]


def train(config):
    strategy = unisono.MultiWorkerMirroredStrategy()
    keras.utils.set_random_seed(1)
    x = np.linspace(-1, 1, 64, dtype="float32")[:, None]
    with strategy.scope():
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(config["lr"]), "mse")
    model.fit(x, 3 * x, batch_size=16, epochs=2, verbose=0, resume=True, callbacks=[unisono.ray.ReportCallback()])


def trial(config):
    unisono.ray.Trainer(
        train,
        train_loop_config=config,
        scaling_config=ray.train.ScalingConfig(num_workers=1),
        run_config=ray.train.RunConfig(
            name=ray.tune.get_context().get_trial_id(), storage_path=storage, callbacks=[TuneReportCallback()]
        ),
    ).fit()


tuner = ray.tune.Tuner(
    ray.tune.with_resources(trial, {"CPU": 0.1}),
    param_space={"lr": ray.tune.grid_search([1e-4, 0.5])},
    tune_config=ray.tune.TuneConfig(metric="loss", mode="min", max_concurrent_trials=2),
    run_config=ray.tune.RunConfig(name="tune", storage_path=storage),
)
results = tuner.fit()
assert not results.errors, results.errors
best = results.get_best_result()
rows = [
    {"lr": result.config["lr"], "epoch": result.metrics["epoch"], "loss": result.metrics["loss"]} for result in results
]
print("RESULT", json.dumps({"best": best.config["lr"], "trials": rows, "path": best.metrics.get("checkpoint_path")}))
