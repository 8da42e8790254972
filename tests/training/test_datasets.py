"""`fit`, `evaluate` and `predict` on datasets that come from files, generators and random maps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import keras
import numpy as np
import pytest

import unisono
from unisono import io
from unisono.data import AUTOTUNE, Dataset, TensorSpec, TFRecordDataset

pytestmark = pytest.mark.slow

X = np.arange(22 * 4, dtype="float32").reshape(22, 4) / 44 - 1
Y = X.sum(axis=1, keepdims=True)
FEATURES = {"x": io.FixedLenFeature((4,), "float32"), "y": io.FixedLenFeature((1,), "float32")}


def rows() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    yield from zip(X, Y, strict=True)


def from_records(folder: Path) -> Dataset:
    path = folder / "rows.tfrecord"
    with io.TFRecordWriter(path) as writer:
        for x, y in rows():
            writer.write(io.encode_example({"x": x, "y": y}))

    def parsed(record: Any) -> Any:
        example = io.parse_single_example(record, FEATURES)
        return example["x"], example["y"]

    return TFRecordDataset(path).map(parsed, num_parallel_calls=AUTOTUNE)


SOURCES = {
    "records": from_records,
    "a generator": lambda _: Dataset.from_generator(
        rows, output_signature=(TensorSpec((4,), "float32"), TensorSpec((1,), "float32"))
    ),
    "a zip of two": lambda _: Dataset.zip(Dataset.from_tensor_slices(X), Dataset.from_tensor_slices(Y)),
    "a concatenation": lambda _: Dataset.from_tensor_slices((X[:7], Y[:7])).concatenate(
        Dataset.from_tensor_slices((X[7:], Y[7:]))
    ),
    "numbered rows": lambda _: (
        Dataset.from_tensor_slices((X, Y)).enumerate().map(lambda number, row: (row[0], row[1] + 0 * number))
    ),
    "a filter that keeps all": lambda _: Dataset.from_tensor_slices((X, Y)).filter(lambda x, y: x[0] > -2),
    "other batches": lambda _: Dataset.from_tensor_slices((X, Y)).batch(3).unbatch(),
    "a file cache": lambda folder: Dataset.from_tensor_slices((X, Y)).cache(folder / "rows.cache"),
    "a window": lambda _: (
        Dataset.from_tensor_slices((X, Y))
        .window(2)
        .flat_map(lambda x, y: Dataset.zip(x.batch(2), y.batch(2)))
        .unbatch()
    ),
}


def trained(strategy: Any, data: Any, epochs: int = 2, **arguments: Any) -> Any:
    keras.utils.set_random_seed(3)
    with strategy.scope():
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.1), "mse")
    model.fit(data, epochs=epochs, verbose=0, **arguments)
    return model


@pytest.mark.parametrize("name", SOURCES)
def test_the_same_rows_train_alike_wherever_they_come_from(pair: Any, tmp_path: Path, name: str) -> None:
    expected = trained(pair, Dataset.from_tensor_slices((X, Y)).batch(5))
    dataset = SOURCES[name](tmp_path).batch(5)
    model = trained(pair, dataset)
    for one, other in zip(model.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert model.evaluate(dataset, verbose=0) == pytest.approx(expected.evaluate(X, Y, verbose=0), rel=1e-5)
    np.testing.assert_allclose(
        model.predict(dataset.map(lambda x, y: x), verbose=0), expected.predict(X, verbose=0), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("kind", ["split", "dealt"])
def test_a_distributed_dataset_trains_as_the_dataset_inside_it(pair: Any, kind: str) -> None:
    expected = trained(pair, Dataset.from_tensor_slices((X[:20], Y[:20])).batch(4))
    if kind == "split":
        data = pair.experimental_distribute_dataset(Dataset.from_tensor_slices((X[:20], Y[:20])).batch(4))
    else:
        data = pair.distribute_datasets_from_function(
            lambda context: Dataset.from_tensor_slices((X[:20], Y[:20])).batch(context.get_per_replica_batch_size(4))
        )
    model = trained(pair, data)
    for one, other in zip(model.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def noisy(x: Any, y: Any) -> Any:
    return x + 0.3 * keras.random.normal(x.shape), y


def noisy_batch(x: Any, y: Any) -> Any:
    return x + 0.3 * jax.random.normal(unisono.data.random.key(), x.shape, "float32"), y


@pytest.mark.parametrize("residency", ["device", "host"])
@pytest.mark.parametrize("order", ["element", "batch", "after a cache"])
def test_random_maps_draw_the_same_on_one_device_and_on_many(order: str, residency: Any) -> None:
    def dataset() -> Dataset:
        keras.utils.set_random_seed(5)
        data = Dataset.from_tensor_slices((X, Y)).shuffle(22, seed=1)
        if order == "batch":
            return data.batch(5).map(noisy_batch)
        return (data.cache() if order == "after a cache" else data).map(noisy).batch(5)

    unisono.config.set_residency(residency)
    try:
        one = trained(unisono.OneDeviceStrategy("cpu:0"), dataset())
        many = trained(unisono.MirroredStrategy([f"cpu:{i}" for i in range(4)]), dataset())
    finally:
        unisono.config.set_residency("auto")
    for first, second in zip(one.get_weights(), many.get_weights(), strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-6)


def test_the_compiled_step_draws_what_iterating_shows(probe: Any, every_step: Any) -> None:
    rows = Dataset.from_tensor_slices(np.zeros((6, 1), "float32"))
    dataset = rows.map(lambda x: x + keras.random.uniform((1,))).batch(2)
    shown = [float(np.sum(batch)) for _ in range(2) for batch in dataset]
    probe.fit(Dataset(dataset._plan), epochs=2, callbacks=[every_step], verbose=0)
    assert every_step.column("sum") == pytest.approx(shown, rel=1e-5)
    assert len(set(shown)) == 6


def test_a_layer_that_augments_works_in_a_map(probe: Any, every_step: Any) -> None:
    flip = keras.layers.RandomFlip("horizontal", seed=1)
    images = np.tile(np.arange(4.0, dtype="float32").reshape(1, 1, 4, 1), (64, 1, 1, 1))
    dataset = Dataset.from_tensor_slices(images).map(lambda image: flip(image, training=True)).batch(1)
    probe.fit(dataset, epochs=2, callbacks=[every_step], verbose=0)
    firsts = np.reshape(every_step.column("first"), (2, 64))
    assert set(firsts.ravel()) == {0.0, 3.0}
    assert 16 < np.sum(firsts[0] == 0) < 48
    assert not np.array_equal(firsts[0], firsts[1])


def test_an_exception_in_a_map_reaches_the_caller_with_its_own_traceback(pair: Any) -> None:
    def broken(x: Any, y: Any) -> Any:
        if float(np.asarray(x)[0]) > 0:
            raise RuntimeError("row beyond the middle")
        return x, y

    dataset = Dataset.from_tensor_slices((X, Y)).map(broken, num_parallel_calls=2).batch(4)
    with pytest.raises(RuntimeError, match="row beyond the middle") as caught:
        trained(pair, dataset)
    assert any(entry.name == "broken" for entry in caught.traceback)


def test_a_stream_without_end_needs_steps_per_epoch(pair: Any) -> None:
    dataset = Dataset.from_tensor_slices((X, Y)).filter(lambda x, y: x[0] > -2).batch(4).repeat()
    with pytest.raises(ValueError, match=r"The data has no end, so `steps_per_epoch` must say"):
        trained(pair, dataset)
    assert trained(pair, dataset, steps_per_epoch=3).optimizer.iterations == 6


def test_a_dataset_of_single_elements_is_refused_by_its_plan(pair: Any) -> None:
    with pytest.raises(ValueError, match=r"yields single elements.*\n.*\.batch\(global_batch_size\)"):
        trained(pair, Dataset.from_tensor_slices((X, Y)).shuffle(5))


def test_single_elements_of_a_function_are_refused_once_the_first_was_read(pair: Any) -> None:
    with pytest.raises(ValueError, match="yields single elements"):
        trained(pair, Dataset.from_generator(lambda: ((x, np.float32(1)) for x in X)))


def test_rows_that_are_batches_need_no_batch(pair: Any) -> None:
    batches = Dataset.from_tensor_slices((X.reshape(2, 11, 4), Y.reshape(2, 11, 1)))
    expected = trained(pair, Dataset.from_tensor_slices((X, Y)).batch(11))
    with pytest.warns(UserWarning, match=r"each of its elements is a batch of 11 rows.\n.*single example, add .batch"):
        found_weights = trained(pair, batches).get_weights()
    for found, wanted in zip(found_weights, expected.get_weights(), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_targets_of_a_batch_may_be_one_number(pair: Any) -> None:
    """As a step of the user's own may want it; the loss of Keras does not."""

    class MeanModel(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.mean = self.add_weight(shape=(), initializer="zeros")

        def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, *_: Any, **__: Any) -> Any:
            return (keras.ops.mean(x) * self.mean - y) ** 2

        def call(self, x: Any) -> Any:
            return x

    batches = Dataset.from_tensor_slices((X, Y)).batch(11).map(lambda x, y: (x, y.mean()))
    with pair.scope():
        model = MeanModel()
        model.compile(keras.optimizers.SGD(0.1))
    model.fit(batches, verbose=0)
    means = Dataset.from_tensor_slices(np.array([0.5, 1.5], np.float32))
    model.fit(Dataset.zip((Dataset.from_tensor_slices(X).batch(11), means)), verbose=0)
    lengths = Dataset.from_tensor_slices(X).bucket_by_sequence_length(len, [5], [11, 11])
    model.fit(lengths.map(lambda x: (x, x.mean())), verbose=0)
    assert model.optimizer.iterations == 6
    with pytest.raises(ValueError, match="yields single elements"):
        trained(pair, Dataset.from_tensor_slices((X, Y[:, 0])).batch(11).unbatch())


def test_one_weight_for_all_rows_is_no_single_element(pair: Any) -> None:
    assert trained(pair, Dataset.from_tensors((X, Y, np.float32(0.5)))).optimizer.iterations == 2
