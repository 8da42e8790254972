"""Ray Datasets as sources of unisono.data, in one process; ends with the first thing that is not so."""

import itertools
import sys
import time

import unisono  # isort: skip  (before keras)
import keras
import numpy as np
import pytest
import ray
import ray.data

from tests.data.plans.restoring import assert_restorable
from unisono._src.data.plans import AutoShardPolicy, Filter, Plan, RayBlocks, Shuffle, Unbatch
from unisono.data import Dataset, TensorSpec

ray.init(log_to_driver=False)
ray.data.DataContext.get_current().enable_progress_bars = False


def add_columns(batch):
    number = batch["id"]
    return {
        "x": np.stack([number, number + 0.5], axis=1).astype("float32"),
        "y": (number % 3).astype("int32"),
        "name": np.array([f"row {n}" for n in number]),
    }


streaming = ray.data.range(23, override_num_blocks=4).map_batches(add_columns)
assert [row["y"].item() for row in Dataset.from_ray(streaming).take(4)] == [0, 1, 2, 0]
materialized = streaming.materialize()  # in order, since from_ray has set that for `streaming`

# Rows are dicts of arrays, and the schema says what they look like.
for data in (streaming, materialized, streaming.iterator()):
    rows = list(Dataset.from_ray(data))
    assert len(rows) == 23
    np.testing.assert_array_equal(np.stack([row["x"] for row in rows])[:, 0], np.arange(23))
    assert rows[5]["y"].dtype == np.int32
    assert rows[5]["name"].item() == b"row 5"
    spec = Dataset.from_ray(data)._known_element_spec
    assert spec == {"x": TensorSpec((2,)), "y": TensorSpec((), "int32"), "name": TensorSpec((), object)}, spec


# What every worker reads whole is in order, whichever block is ready first.
def wait(batch):
    time.sleep(0.5 if batch["id"][0] == 0 else 0)
    return batch


unordered = ray.data.range(12, override_num_blocks=4).map_batches(wait, batch_size=3).iterator()
assert [row["id"].item() for row in Dataset.from_ray(unordered)] == list(range(12))

# Batches, over the ends of blocks, without a copy of each row.
batched = Dataset.from_ray(materialized).map(lambda row: (row["x"] * 2, row["y"])).batch(8)
assert [len(y) for _, y in batched] == [8, 8, 7]
assert [len(y) for _, y in batched] == [8, 8, 7], "another pass"
np.testing.assert_array_equal(np.concatenate([x for x, _ in batched])[:, 1], np.arange(23) * 2 + 1)
assert "slices of the batches before unbatch()" in batched.explain(), batched.explain()
assert batched.options().experimental_distribute.auto_shard_policy is AutoShardPolicy.AUTO

# Every position can be saved and restored.
for data in (streaming, materialized):
    assert_restorable(lambda: Plan(RayBlocks(data), (Unbatch(),)), limit=4)  # noqa: B023  (used at once)
skipped = Plan(RayBlocks(materialized), (Unbatch(), Filter(lambda row: True), Shuffle(6, seed=2)))
assert_restorable(lambda: skipped, limit=4)

# Shards are what workers read on their own. Without an order, a resumed run may be another one, which is said.
shards = ray.data.range(9).streaming_split(2, equal=False)
assert all(RayBlocks(shard).is_shard for shard in shards)
assert "Ray may give the rows" in Plan(RayBlocks(shards[0])).resume_caveat
assert Plan(RayBlocks(materialized)).resume_caveat is None
sharded = Dataset.from_ray(shards[0]).batch(4)
assert sharded.options().experimental_distribute.auto_shard_policy is AutoShardPolicy.OFF

# What cannot be an array is refused with the name of the column.
for items, message in (
    ([{"a": [1, 2]}, {"a": [1]}], "column 'a' are not arrays of one shape"),
    ([{"a": 1}, {"a": None}], "column 'a'"),
):
    with pytest.raises(TypeError, match=message):
        list(Dataset.from_ray(ray.data.from_items(items, override_num_blocks=1)))

# `fit` on it has the weights of `fit` on arrays, on two replicas.
everything = list(Dataset.from_ray(materialized).as_numpy_iterator())
x, y = (np.stack([row[name] for row in everything]) for name in ("x", "y"))


def train(data):
    keras.utils.set_random_seed(3)
    with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(3)])
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(data, epochs=2, verbose=0)
    return model.get_weights()


arrays = Dataset.from_tensor_slices((x, y)).batch(8)
rows = Dataset.from_ray(streaming).map(lambda row: (row["x"], row["y"])).batch(8)
for one, other in zip(train(arrays), train(rows), strict=True):
    np.testing.assert_array_equal(one, other)

# Not fast by accident: a million rows are not a million calls of Python.
many = ray.data.range(1_000_000, override_num_blocks=8).materialize()
start = time.perf_counter()
total = sum(len(batch["id"]) for batch in Dataset.from_ray(many).batch(256))
print(f"DONE {total} rows in {time.perf_counter() - start:.2f} s", file=sys.stdout)
assert not any(itertools.islice(Dataset.from_ray(many.limit(0)), 1))
