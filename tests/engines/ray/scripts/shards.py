"""Trains two workers on shards of different sizes of a Ray Dataset, and one device on the same global batches.

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

STEPS_OF_ALL = 9  # 50 rows of one worker and 25 of the other, in batches of 6 for each
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
    shard = config["shards"][ray.train.get_context().get_world_rank()]
    rows = unisono.data.Dataset.from_ray(shard)
    ids = [int(row["id"]) for row in rows]
    with strategy.scope():
        model = make_model()
    history = model.fit(rows.map(lambda row: (row["x"], row["y"])).batch(12), epochs=2, verbose=0)
    assert int(model.optimizer.iterations) == 2 * STEPS_OF_ALL, int(model.optimizer.iterations)
    ids = strategy.gather(strategy.run(lambda: np.pad(np.array(ids), (0, 75 - len(ids)), constant_values=-1)[None]), 0)
    return {"ids": np.asarray(ids).tolist(), "weights": model.get_weights(), "losses": history.history["loss"]}


parts = ray.data.range(75, override_num_blocks=1).map_batches(columns).materialize().split_at_indices([50, 55])
uneven = parts[0].union(*parts[1:])
uneven.context.execution_options.preserve_order = True
result = unisono.ray.Trainer(
    train,
    train_loop_config={"shards": uneven.streaming_split(2, equal=False)},
    scaling_config=ray.train.ScalingConfig(num_workers=2),
    run_config=ray.train.RunConfig(name="shards", storage_path=sys.argv[1]),
).fit()
shards = [[number for number in ids if number >= 0] for ids in result.return_value["ids"]]
assert sorted(shards[0] + shards[1]) == list(range(75)), shards
assert sorted(map(len, shards)) == [25, 50], list(map(len, shards))


def global_batches():
    for step in range(STEPS_OF_ALL):
        ids = np.array([number for shard in shards for number in shard[6 * step : 6 * step + 6]])
        batch = columns({"id": ids})
        yield batch["x"], batch["y"]


with unisono.OneDeviceStrategy("cpu:0").scope():
    model = make_model()
signature = (unisono.data.TensorSpec((None, 4)), unisono.data.TensorSpec((None,), "int64"))
history = model.fit(
    unisono.data.Dataset.from_generator(global_batches, output_signature=signature), epochs=2, verbose=0
)
for one, other in zip(model.get_weights(), result.return_value["weights"], strict=True):
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
np.testing.assert_allclose(history.history["loss"], result.return_value["losses"], rtol=1e-5)
print("DONE", [len(shard) for shard in shards])
