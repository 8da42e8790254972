"""Trains with strategies that divide state over processes: python sharded.py FOLDER STRATEGY...

Every worker writes what it got into its own file of the folder. A test imports `train` and compares with one device.
"""

import sys
from pathlib import Path

import unisono  # isort: skip  (before keras)
import jax
import keras
import numpy as np

BATCH, ROWS = 8, 44  # the last batch has 4 rows, not one for each of two replicas of two devices each
X = np.random.default_rng(0).normal(size=(ROWS, 12)).astype("float32")
Y = X[:, :4].argmax(1).astype("int32")

# Four devices, two in each process. In "split" all of them are one replica, which spans both processes.
STRATEGIES = {
    "zero1": lambda: unisono.FullyShardedStrategy(shard="optimizer", min_shard_size=0),
    "mesh": lambda: unisono.ModelParallelStrategy({"batch": 2, "model": 2}),
    "split": lambda: unisono.ModelParallelStrategy({"batch": 1, "model": 4}),
}


def train(strategy):
    """What is compared, by name, and the model."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(5)
    with strategy.scope():
        layers = [keras.layers.Dense(16, "relu"), keras.layers.Dropout(0.3), keras.layers.Dense(4)]
        model = keras.Sequential([keras.Input((12,)), *layers])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.Adam(0.01, global_clipnorm=0.5), loss, metrics=["accuracy"])
    history = model.fit(X, Y, batch_size=BATCH, epochs=2, verbose=0, validation_data=(X[:9], Y[:9])).history
    values = {
        f"{index} {each.path}": each.numpy() for index, each in enumerate(model.variables + model.optimizer.variables)
    }
    values |= {name: np.asarray(each) for name, each in history.items()}
    return values | {"predict": model.predict(X, batch_size=BATCH, verbose=0)}, model


def train_in_a_loop(strategy):
    """The losses of steps with `run`, on arrays that every process has."""
    keras.utils.set_random_seed(5)
    with strategy.scope():
        model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(4)])
        optimizer = keras.optimizers.Adam(0.01)
        optimizer.build(model.trainable_variables)

    def step(x, y):
        with unisono.GradientTape() as tape:
            loss = keras.ops.mean(keras.losses.sparse_categorical_crossentropy(y, model(x), from_logits=True))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    run = unisono.function(lambda x, y: strategy.reduce("SUM", strategy.run(step, args=(x, y))))
    return np.asarray([float(run(X, Y)) for _ in range(3)])


def refusals(strategy):
    """What a strategy says whose replicas span processes, if it is asked for what a process has of a replica."""
    rows = unisono.data.Dataset.from_tensor_slices(X).batch(BATCH)
    for name, call in (
        ("dataset", lambda: next(iter(strategy.experimental_distribute_dataset(rows)))),
        ("values", lambda: strategy.experimental_distribute_values_from_function(lambda context: np.ones(1))),
        ("local results", lambda: strategy.experimental_local_results(strategy.run(lambda: keras.ops.ones(())))),
    ):
        try:
            call()
        except NotImplementedError as error:
            yield name, " ".join(str(error).split())
        else:
            raise AssertionError(f"{name}: not refused")


def has_parts_elsewhere(variables):
    """Whether other processes store parts of them that this one does not."""
    return any(
        {str(shard.index) for shard in value.addressable_shards}
        != set(map(str, value.sharding.devices_indices_map(value.shape).values()))
        for value in (variable.value for variable in variables)
    )


def main():
    for name in sys.argv[2:]:
        strategy = STRATEGIES[name]()
        values, model = train(strategy)
        np.savez(Path(sys.argv[1]) / f"{name}-{jax.process_index()}.npz", **values)
        weights, slots = map(has_parts_elsewhere, (model.trainable_variables, model.optimizer.variables))
        print(f"{name}: weights over processes {weights}, optimizer over processes {slots}", flush=True)
    if name != "split":
        return
    np.savez(Path(sys.argv[1]) / f"loop-{jax.process_index()}.npz", losses=train_in_a_loop(strategy))
    for name, sentence in refusals(strategy):
        print(f"{name}: {sentence}", flush=True)


if __name__ == "__main__":
    main()
