"""What workers gather: rows, text, and values of which each worker has its own part."""

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

strategy = unisono.MultiWorkerMirroredStrategy()
number = strategy.num_replicas_in_sync
index = unisono._src.processes.processes().index


def values(function):
    return strategy.experimental_distribute_values_from_function(
        lambda context: function(context.replica_id_in_sync_group)
    )


def show(name, value):
    print(name, np.asarray(value).tolist(), flush=True)


rows = values(lambda replica: np.full((replica + 1, 1), replica, "float32"))
show("rows", strategy.gather(rows, axis=0))
show("doubled", strategy.gather(strategy.run(lambda x: 2 * x, args=(rows,)), axis=0))
try:
    strategy.gather(rows, axis=1)
except ValueError as error:
    show("unlike", "the replicas have arrays of shapes" in str(error))

show("names", strategy.gather(values(lambda replica: np.array([f"replica {replica}"] * (replica + 1))), axis=0))
results = strategy.experimental_local_results(strategy.run(lambda: {"name": "a", "one": keras.ops.ones(())}))
show("results", [result["name"] for result in results])

# Every worker has other text, and another number of batches.
lines = [f"line {index}.{line}" for line in range(3 + 4 * index)]
lengths = [float(len(line)) for line in lines]
texts = strategy.distribute_datasets_from_function(
    lambda context: unisono.data.Dataset.from_tensor_slices((lines, lengths)).batch(2)
)
found = [(strategy.gather(text, axis=0), strategy.reduce("sum", length, axis=0)) for text, length in texts]
show("texts", sorted(line for text, _ in found for line in text.tolist()))
show("lengths", sum(float(length) for _, length in found))

nothing = unisono.data.Dataset.from_tensors(np.zeros((0, 2), "float32"))
for batch in strategy.experimental_distribute_dataset(nothing):
    show("empty", strategy.reduce("sum", batch, axis=0))
    show("shape", strategy.gather(batch, axis=0).shape)

# Only the last worker has something that is not text.
objects = np.array([1 if replica == number - 1 else "a" for replica in range(number)], object)
strategy.gather(values(lambda replica: objects[replica : replica + 1]), axis=0)
