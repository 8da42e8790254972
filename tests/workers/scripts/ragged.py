"""Values per replica whose numbers of rows differ between the workers, and then values that differ otherwise."""

import unisono  # isort: skip  (before keras)
import keras
import numpy as np

strategy = unisono.MultiWorkerMirroredStrategy()
add_up = unisono.function(lambda value: strategy.reduce("sum", strategy.run(keras.ops.sum, args=(value,)), axis=None))


def values(function):
    return strategy.experimental_distribute_values_from_function(
        lambda context: function(context.replica_id_in_sync_group)
    )


even, scalars = values(lambda number: np.full((2, 3), number, "float32")), values(lambda number: number)
uneven = values(lambda number: np.ones((number + 1, 2), "float32"))
print("own", [part.shape for part in uneven.values], flush=True)
for name, value in (("even", even), ("scalars", scalars), ("uneven", uneven)):
    print(name, float(add_up(value)), flush=True)
texts = values(lambda number: {"name": f"replica {number}", "id": number})
print(texts["name"], flush=True)
values(lambda number: np.ones((2, number + 1), "float32"))
