"""What users do with a strategy, in one go. Every worker writes what it got into its own file of a folder.

python everything.py FOLDER [leave out this part]...
"""

import json
import os
import re
import sys
from pathlib import Path

import unisono  # isort: skip  (before keras)
import jax
import jax.numpy as jnp
import keras
import numpy as np

BATCH = 16
ROWS = 71  # the last batch has 7 rows, fewer than the replicas of the largest job
folder = Path(sys.argv[1])
alone = "TF_CONFIG" not in os.environ
strategy = unisono.MirroredStrategy(["cpu:0"]) if alone else unisono.MultiWorkerMirroredStrategy()
index = unisono._src.processes.processes().index
# Every worker calls its devices by the names that it finds them by.
assert strategy.extended.worker_devices == tuple(f"cpu:{number}" for number in range(jax.local_device_count()))
if alone or index == 0:
    keras.utils.set_random_seed(5)  # other workers draw different values: the chief's count

random = np.random.RandomState(0)
X = random.rand(ROWS, 12).astype("float32")
Y = X[:, :4].argmax(1).astype("int32")
results: dict[str, np.ndarray] = {}


def note(name, *values):
    for number, value in enumerate(values):
        results[f"{name}/{number}"] = np.asarray(value)


def model_of(layers):
    with strategy.scope():
        model = keras.Sequential([keras.Input((12,)), *layers(), keras.layers.Dense(4)])
        model.compile(
            keras.optimizers.Adam(1e-2),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    return model


class Losses(keras.callbacks.Callback):
    """Sees every step."""

    def __init__(self):
        super().__init__()
        self.losses = []

    def on_train_batch_end(self, batch, logs=None):
        self.losses.append(logs["loss"])


def training():
    # No bias: before a batch normalisation its gradient is rounding, which Adam amplifies to whole steps.
    model = model_of(lambda: [keras.layers.Dense(8, use_bias=False), keras.layers.BatchNormalization()])
    history = model.fit(X, Y, batch_size=BATCH, epochs=2, verbose=2, validation_data=(X[:33], Y[:33]))
    note("fit", history.history["loss"], history.history["val_loss"], *model.get_weights())
    note("evaluate", *model.evaluate(X[:65], Y[:65], batch_size=BATCH, verbose=0))  # a last batch of one row
    predicted = model.predict(X, batch_size=BATCH, verbose=0)
    note("predict", predicted)
    model.save(folder / "model.keras")
    if index == 0:
        model.save_weights(folder / "chief.weights.h5")
    return predicted


def check_sums(model):
    """Each step sums one array over the workers, which has the gradients, the loss and the metrics."""
    found = [program for program in unisono._src.training.programs(model) if program.form == "loop"]
    assert found
    for program in found:
        sums = re.findall(r"= (.*?) (?:all-reduce|reduce-scatter|all-gather)(?:-start)?\(", program.text)
        assert len(sums) == 1, sums
        assert not sums[0].startswith("("), sums  # a tuple: gloo sums its arrays one after the other


def inputs():
    model = model_of(lambda: [keras.layers.Dense(8, activation="tanh"), keras.layers.Dropout(0.3)])
    dataset = unisono.data.Dataset.from_tensor_slices((X, Y)).shuffle(ROWS).map(lambda x, y: (2 * x, y)).batch(BATCH)
    note("dataset", *(model.fit(dataset, epochs=1, verbose=0).history["loss"] for _ in range(2)))
    note("distributed", model.fit(strategy.experimental_distribute_dataset(dataset), verbose=0).history["loss"])
    if not alone:
        check_sums(model)

    def batches():
        for begin in range(0, ROWS, BATCH):
            yield X[begin : begin + BATCH], Y[begin : begin + BATCH]

    every = Losses()
    model.fit(batches(), verbose=0, callbacks=[every])
    note("generator", every.losses)
    unisono.config.set_residency("host")
    note("host", model.fit(X, Y, batch_size=BATCH, epochs=2, verbose=0).history["loss"])
    unisono.config.set_residency("auto")
    note("train_on_batch", model.train_on_batch(X[:5], Y[:5]))


def files(model):
    """Each worker reads its own files, of different sizes; no row is lost or read twice."""
    mine = folder / f"lines-{index}"
    mine.mkdir()
    names = [str(mine / f"{number}.txt") for number in range(5)]
    for number, name in enumerate(names):
        Path(name).write_text("".join(f"{number * 100 + line}\n" for line in range(3 + 4 * number)))
    options = unisono.data.Options()
    options.experimental_distribute.auto_shard_policy = unisono.data.experimental.AutoShardPolicy.FILE
    lines = unisono.data.TextLineDataset(names).map(lambda line: np.float32(int(line)))
    total = 0.0
    for batch in strategy.experimental_distribute_dataset(lines.batch(BATCH).with_options(options)):
        total += float(strategy.reduce("SUM", batch, axis=0))
    note("files", total)


def loops():
    with strategy.scope():
        model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(4)])
        optimizer = keras.optimizers.Adam(1e-2)
        accuracy = keras.metrics.SparseCategoricalAccuracy()
        loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    def step(x, y):
        with unisono.GradientTape() as tape:
            logits = model(x, training=True)
            loss = unisono.nn.compute_average_loss(loss_of(y, logits), global_batch_size=BATCH)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )
        accuracy.update_state(y, logits)
        return loss

    @unisono.function
    def train_step(batch):
        return strategy.reduce("SUM", strategy.run(step, args=batch), axis=None)

    dataset = unisono.data.Dataset.from_tensor_slices((X, Y)).shuffle(ROWS).batch(BATCH)
    losses = [float(train_step(batch)) for batch in strategy.experimental_distribute_dataset(dataset)]
    note("loop", losses, accuracy.result(), *model.get_weights())

    def own_part(context):
        rows = unisono.data.Dataset.from_tensor_slices((X, Y))
        rows = rows.shard(context.num_input_pipelines, context.input_pipeline_id)
        return rows.batch(context.get_per_replica_batch_size(BATCH))

    seen = np.zeros(12)
    for batch in strategy.distribute_datasets_from_function(own_part):
        seen += np.asarray(strategy.reduce("SUM", batch[0], axis=0), "float64")
        train_step(batch)
    note("from_function", seen)
    files(model)
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    assert len(model.fit(strategy.distribute_datasets_from_function(own_part), verbose=0).history["loss"]) == 1
    note("unused_rows", model.predict(X[:1], verbose=0).shape)


class OwnStep(keras.Model):
    """A step in TensorFlow's signature, with numbers from the generator of the process."""

    def __init__(self):
        super().__init__()
        self.layer = keras.layers.Dense(4)

    def call(self, x):
        return self.layer(x)

    def train_step(self, data):
        x, y = data
        with unisono.GradientTape() as tape:
            noisy = x + 0.1 * keras.random.normal(x.shape)
            loss = self.compute_loss(y=y, y_pred=self(noisy, training=True))
        weights = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return {"loss": loss}


def own_steps():
    with strategy.scope():
        model = OwnStep()
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(X, Y, batch_size=BATCH, epochs=2, verbose=0).history
    note("own_step", history["loss"], *model.get_weights())
    if index == 0:
        np.asarray(keras.random.normal((3,)))  # for itself: its generator is now ahead of its peers'
    history = model.fit(X, Y, batch_size=BATCH, verbose=0).history
    note("own_step_again", history["loss"], *model.get_weights(), keras.random.uniform((3,)))


class MixedRows(keras.layers.Layer):
    """Operations along the rows of all workers, whose gradients XLA does not partition by itself."""

    def call(self, x):
        smoothed = keras.ops.max_pool(x[None], 2, 1, "same")[0]
        return x + keras.ops.sort(x, 0) + keras.ops.median(x, 0, keepdims=True) + smoothed


def mixed_rows():
    model = model_of(lambda: [keras.layers.Dense(4), MixedRows()])
    history = model.fit(X[:17], Y[:17], batch_size=7, verbose=0, shuffle=False).history
    note("mixed_rows", history["loss"], *model.get_weights())

    def reorder(x, y):
        rows = jax.lax.ScatterDimensionNumbers((1,), (0,), (0,))
        return jax.lax.scatter(jnp.zeros_like(x), jnp.argsort(x[:, :1], 0).astype("uint32"), x, rows), y

    dataset = unisono.data.Dataset.from_tensor_slices((X[:17], Y[:17])).batch(7).map(reorder)
    note("mixed_in_map", model.fit(dataset, verbose=0).history["loss"], *model.get_weights())


predicted = training()
for part in (inputs, mixed_rows, loops, own_steps):
    if part.__name__ not in sys.argv[2:]:
        part()
# All have trained since the chief wrote the file, so that it exists.
np.testing.assert_allclose(
    keras.saving.load_model(folder / "model.keras").predict(X, verbose=0), predicted, rtol=1e-5, atol=1e-6
)
np.savez(folder / f"results-{index}.npz", **results)
print(json.dumps({"worker": index, "replicas": strategy.num_replicas_in_sync}), flush=True)
if index == 0:
    print("a metric read by the chief alone", flush=True)
