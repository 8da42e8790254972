"""Trains two workers on a Ray Dataset, in shards of different sizes or whole, and one device on the same batches.

Usage: shards.py STORAGE
"""

import sys

import unisono  # isort: skip  (before keras)
import keras
import numpy as np
import ray
import ray.data
import ray.train

import unisono.ray

ray.init(log_to_driver=False)


def make_model():
    keras.utils.set_random_seed(2)
    model = keras.Sequential([keras.layers.Dense(8, "tanh"), keras.layers.Dense(3)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.5), loss)
    return model


def columns(batch):
    x = np.stack([np.sin(batch["id"] * k) for k in range(1, 5)], axis=1).astype("float32")
    return {"id": batch["id"], "x": x, "y": batch["id"] % 3}


def train(config):
    strategy = unisono.MultiWorkerMirroredStrategy()
    rank = ray.train.get_context().get_world_rank()
    shard = config["shards"][rank] if "shards" in config else ray.train.get_dataset_shard("train")
    rows = unisono.data.Dataset.from_ray(shard)
    ids = [int(row["id"]) for row in rows]
    with strategy.scope():
        model = make_model()
    history = model.fit(rows.map(lambda row: (row["x"], row["y"])).batch(12), epochs=2, verbose=0)
    ids = strategy.gather(strategy.run(lambda: np.pad(np.array(ids), (0, 75 - len(ids)), constant_values=-1)[None]), 0)
    return {
        "ids": [[number for number in row if number >= 0] for row in np.asarray(ids).tolist()],
        "steps": int(model.optimizer.iterations) // 2,
        "weights": model.get_weights(),
        "losses": history.history["loss"],
    }


def run(name, config, **arguments):
    return (
        unisono.ray.Trainer(
            train,
            train_loop_config=config,
            scaling_config=ray.train.ScalingConfig(num_workers=2),
            run_config=ray.train.RunConfig(name=name, storage_path=sys.argv[1]),
            **arguments,
        )
        .fit()
        .return_value
    )


def check_against_one_device(found, batches):
    """``batches``: the numbers of the rows of each global batch."""

    def generate():
        for ids in batches:
            batch = columns({"id": np.array(ids)})
            yield batch["x"], batch["y"]

    with unisono.OneDeviceStrategy("cpu:0").scope():
        model = make_model()
    signature = (unisono.data.TensorSpec((None, 4)), unisono.data.TensorSpec((None,), "int64"))
    data = unisono.data.Dataset.from_generator(generate, output_signature=signature)
    history = model.fit(data, epochs=2, verbose=0)
    assert found["steps"] == len(batches), found["steps"]
    for one, other in zip(model.get_weights(), found["weights"], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(history.history["loss"], found["losses"], rtol=1e-5)


# Each worker reads its shard, of 50 rows and of 25: six rows of each in a global batch, until the longer one has ended.
parts = ray.data.range(75, override_num_blocks=1).map_batches(columns).materialize().split_at_indices([50, 55])
uneven = parts[0].union(*parts[1:])
uneven.context.execution_options.preserve_order = True
found = run("shards", {"shards": uneven.streaming_split(2, equal=False)})
assert sorted(found["ids"][0] + found["ids"][1]) == list(range(75)), found["ids"]
assert sorted(map(len, found["ids"])) == [25, 50], found["ids"]
batches = [[number for ids in found["ids"] for number in ids[6 * step : 6 * step + 6]] for step in range(9)]
check_against_one_device(found, batches)

# Every worker reads everything, and keeps its part of each batch.
whole = ray.data.range(75, override_num_blocks=5).map_batches(columns)
found = run("whole", {}, datasets={"train": whole}, dataset_config=ray.train.DataConfig(datasets_to_split=[]))
assert found["ids"] == [list(range(75))] * 2, found["ids"]
check_against_one_device(found, [list(range(75))[first : first + 12] for first in range(0, 75, 12)])
print("DONE")
