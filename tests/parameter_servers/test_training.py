"""Training with parameter servers: one worker trains as one device does, several reach the same loss."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import keras
import numpy as np
import pytest

import unisono
from tests.parameter_servers._cluster import Cluster, cluster
from unisono._src.parameter_servers import FixedShardsPartitioner
from unisono._src.parameter_servers._closure_program import _draw_seed_state
from unisono._src.parameter_servers._stored_variable import StoredVariable
from unisono._src.training import _fit_on_workers
from unisono.data import Dataset, TensorSpec

_rng = np.random.default_rng(0)
X = _rng.normal(size=(96, 4)).astype("float32")
Y = (X @ np.float32([[1], [-2], [3], [0.5]]) + 0.1).astype("float32")


@pytest.fixture(scope="module")
def one_worker() -> Iterator[Cluster]:
    with cluster(1, 2, FixedShardsPartitioner(2)) as made:
        yield made


@pytest.fixture(scope="module")
def three_workers() -> Iterator[Cluster]:
    with cluster(3, 2) as made:
        yield made


def make_model() -> Any:
    keras.utils.set_random_seed(3)
    return keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(8, activation="tanh", kernel_regularizer="l2"),
            keras.layers.BatchNormalization(),
            keras.layers.Dropout(0.1, seed=5),
            keras.layers.Dense(1),
        ]
    )


def make_step(model: Any, optimizer: Any, metric: Any) -> Callable[..., Any]:
    def step(x: Any, y: Any) -> Any:
        with unisono.GradientTape() as tape:
            predicted = model(x, training=True)
            loss = keras.ops.mean((predicted - y) ** 2) + sum(model.losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        metric.update_state(y, predicted)
        return loss

    return step


def whole(variables: list[Any]) -> list[Any]:
    """The values of variables, with the parts of a weight joined."""
    values: dict[str, list[Any]] = {}
    for variable in variables:
        values.setdefault(variable.path.partition("_part_")[0], []).append(np.atleast_1d(variable.numpy()))
    return [np.concatenate(parts) for parts in values.values()]


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: keras.optimizers.SGD(0.1),
    "adamw": lambda: keras.optimizers.AdamW(0.05, global_clipnorm=1.0, use_ema=True, ema_overwrite_frequency=4),
    "loss scale": lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1, momentum=0.9)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["sgd", pytest.param("adamw", marks=pytest.mark.full), pytest.param("loss scale", marks=pytest.mark.full)]
)
def test_one_worker_trains_as_one_device(one_worker: Cluster, name: str) -> None:
    dataset = Dataset.from_tensor_slices((X, Y)).batch(40).repeat()  # 40, 40 and 16 rows
    strategy, coordinator = one_worker.strategy, one_worker.coordinator
    with strategy.scope():
        model, optimizer, metric = make_model(), OPTIMIZERS[name](), keras.metrics.MeanAbsoluteError()
    step = make_step(model, optimizer, metric)
    iterator = iter(coordinator.create_per_worker_dataset(dataset))
    scheduled = unisono.function(lambda iterator: strategy.run(step, args=next(iterator)))
    losses = coordinator.fetch([coordinator.schedule(scheduled, args=(iterator,)) for _ in range(9)])
    with unisono.OneDeviceStrategy("cpu:0").scope():
        model_1, optimizer_1, metric_1 = make_model(), OPTIMIZERS[name](), keras.metrics.MeanAbsoluteError()
    step_1, batches = unisono.function(make_step(model_1, optimizer_1, metric_1)), iter(dataset)
    losses_1 = [float(step_1(*next(batches))) for _ in range(9)]
    np.testing.assert_allclose(losses, losses_1, rtol=1e-6)
    np.testing.assert_allclose(metric.result(), metric_1.result(), rtol=1e-6)
    assert int(optimizer.iterations) == int(optimizer_1.iterations) == 9
    for value, expected in zip(whole(model.weights), whole(model_1.weights), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.full
def test_only_gradients_are_sent(three_workers: Cluster) -> None:
    with three_workers.strategy.scope():
        model, optimizer = make_model(), keras.optimizers.Adam(0.01)
        metric = keras.metrics.MeanAbsoluteError()
    step = unisono.function(make_step(model, optimizer, metric))
    three_workers.coordinator.schedule(step, args=(X[:8], Y[:8]))
    three_workers.coordinator.join()
    [program] = next(reversed(three_workers.coordinator._programs.values())).programs.values()
    sent = [spec for part in program._split.owners for spec in part.received_specs]
    num_gradients = sum(math.prod(weight.shape) for weight in model.trainable_variables)
    num_statistics = 2 * 8  # of the batch normalization
    assert sum(math.prod(shape) for shape, _ in sent if shape) == num_gradients + num_statistics
    read = {variable.path for variable in program._read}
    assert not any("momentum" in path or "velocity" in path or "total" in path for path in read), read


@pytest.mark.slow
def test_several_workers_reach_the_loss_in_fit(three_workers: Cluster) -> None:
    with three_workers.strategy.scope():
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, kernel_initializer="zeros")])
        model.compile(keras.optimizers.SGD(0.05), "mse", metrics=["mae"])
    seen: list[int] = []
    batches = keras.callbacks.LambdaCallback(on_train_batch_end=lambda step, logs: seen.append(step))
    history = model.fit(X, Y, batch_size=32, epochs=4, steps_per_epoch=10, verbose=0, callbacks=[batches])
    assert seen == [*range(10)] * 4
    assert int(model.optimizer.iterations) == 40
    assert history.history["loss"][-1] < 0.1 < history.history["loss"][0]  # 0.015 to 0.017, from 7.6
    history = model.fit(X, Y, epochs=2, validation_data=(X[:10], Y[:10]), verbose=0, initial_epoch=1)
    assert sorted(history.history) == ["loss", "mae", "val_loss", "val_mae"]
    assert int(model.optimizer.iterations) == 43  # 96 rows in batches of 32, one epoch
    loss, mae = model.evaluate(X, Y, verbose=0)
    np.testing.assert_allclose(np.mean(np.abs(model.predict(X, verbose=0) - Y)), mae, rtol=1e-4)
    np.testing.assert_allclose(np.mean((model(X) - Y) ** 2), loss, rtol=1e-4)


@pytest.mark.full
def test_one_worker_fits_as_one_device(one_worker: Cluster) -> None:
    dataset = Dataset.from_tensor_slices((X, Y)).batch(24).repeat()

    def fit(strategy: Any) -> tuple[Any, dict[str, Any]]:
        with strategy.scope():
            model = make_model()
            model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
        return model, model.fit(dataset, epochs=2, steps_per_epoch=4, verbose=0).history

    model, history = fit(one_worker.strategy)
    model_1, history_1 = fit(unisono.OneDeviceStrategy("cpu:0"))
    for name, values in history_1.items():
        np.testing.assert_allclose(history[name], values, rtol=1e-5)
    for value, expected in zip(whole(model.weights), whole(model_1.weights), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_a_custom_step_and_a_checkpoint_of_the_chief(one_worker: Cluster, tmp_path: Path) -> None:
    class Doubling(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = keras.layers.Dense(1)

        def call(self, x: Any) -> Any:
            return self.dense(x)

        def train_step(self, data: Any) -> Any:
            x, y = data
            with unisono.GradientTape() as tape:
                loss = keras.ops.mean((self(x) - 2 * y) ** 2)
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            return {"own_loss": loss}

    with one_worker.strategy.scope():
        model = Doubling()
        model.compile(keras.optimizers.SGD(0.1))
    history = model.fit(Dataset.from_tensor_slices((X, Y)).batch(32).repeat(), epochs=3, steps_per_epoch=9, verbose=0)
    assert history.history["own_loss"][-1] < 0.1
    before = model.get_weights()
    saved = unisono.checkpoint.Checkpoint(model=model, optimizer=model.optimizer)
    path = saved.save(str(tmp_path / "kept"))
    model.fit(Dataset.from_tensor_slices((X, -Y)).batch(32).repeat(), epochs=1, steps_per_epoch=3, verbose=0)
    assert not np.allclose(before[0], model.get_weights()[0])
    saved.restore(path).assert_existing_objects_matched()
    for value, expected in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(value, expected)


@pytest.mark.slow
def test_fit_resumes_after_the_last_epoch(one_worker: Cluster, tmp_path: Path) -> None:
    def fit(fails: bool) -> tuple[Any, list[int]]:
        epochs: list[int] = []

        def begin(epoch: int, logs: Any) -> None:
            epochs.append(epoch)
            if fails and epoch == 2:
                raise KeyError("stopped")

        with one_worker.strategy.scope():
            model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
            model.compile(keras.optimizers.SGD(0.01, momentum=0.9), "mse")
        callbacks = [
            keras.callbacks.LambdaCallback(on_epoch_begin=begin),
            keras.callbacks.BackupAndRestore(str(tmp_path / "backup")),
        ]
        model.fit(X, Y, batch_size=48, epochs=4, verbose=0, callbacks=callbacks)
        return model, epochs

    with pytest.raises(KeyError, match="stopped"):
        fit(fails=True)
    model, epochs = fit(fails=False)
    assert epochs == [2, 3]
    assert int(model.optimizer.iterations) == 8
    assert not list((tmp_path / "backup").rglob("*.safetensors"))  # deleted at the end


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"x": Dataset.from_tensor_slices((X, Y)).batch(4)}, ValueError, "steps_per_epoch=100"),
        ({"x": (batch for batch in [(X, Y)]), "steps_per_epoch": 1}, TypeError, "not generator"),
        (
            {"x": Dataset.from_tensor_slices((X, Y)).batch(4), "steps_per_epoch": 1, "class_weight": {0: 1.0}},
            ValueError,
            "class_weight works with arrays only",
        ),
    ],
)
def test_mistakes_are_explained(one_worker: Cluster, arguments: Any, error: type[Exception], text: str) -> None:
    with one_worker.strategy.scope():
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    with pytest.raises(error, match=text):
        model.fit(**arguments)


def test_a_weight_that_is_split_has_the_value_of_the_whole(one_worker: Cluster) -> None:
    """Also in a model that is built by its first `fit`."""
    expected = keras.initializers.GlorotUniform(seed=4)((4, 3))
    with one_worker.strategy.scope():
        model = keras.Sequential([keras.layers.Dense(3, kernel_initializer=keras.initializers.GlorotUniform(seed=4))])
        model.compile(keras.optimizers.SGD(0.0), "mse")
    model.fit(X[:8], X[:8, :3], epochs=1, verbose=0)
    assert len(model.weights) == 4
    np.testing.assert_array_equal(model.layers[0].kernel, expected)


def test_what_a_loop_changes_is_sent_as_a_difference(one_worker: Cluster) -> None:
    with one_worker.strategy.scope():
        total = keras.Variable(np.float32(1))

    @unisono.function
    def grow() -> Any:
        total.assign(jax.lax.fori_loop(0, 3, lambda _, value: value * 2, total.value))

    for _ in range(2):
        one_worker.coordinator.schedule(grow)
    one_worker.coordinator.join()
    assert float(total) == 64.0


def test_draws_without_a_seed_differ_between_closures(one_worker: Cluster) -> None:
    keras.utils.set_random_seed(1)
    draw = unisono.function(lambda: keras.random.uniform((2,)))
    drawn = one_worker.coordinator.fetch([one_worker.coordinator.schedule(draw) for _ in range(3)])
    assert len({tuple(each.tolist()) for each in drawn}) == 3


def _run_in_threads(functions: list[Callable[[], Any]]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_that_draw_at_the_same_time_get_different_seeds() -> None:
    class SlowVariable:
        _value = np.uint32([1, 0])

        def assign(self, value: Any) -> None:
            time.sleep(0.01)
            self._value = value

    state, drawn = SlowVariable(), []
    _run_in_threads([lambda: drawn.append(int(_draw_seed_state(state)[1]))] * 4)
    assert len(set(drawn)) == 4


def test_threads_that_read_a_variable_at_the_same_time_keep_its_last_value() -> None:
    """A worker's thread traces a function while the script reads."""
    second_has_read = threading.Event()

    class Value:
        def __init__(self, version: int) -> None:
            self.version = version

        def is_deleted(self) -> bool:
            return False

    class Servers:
        generation, version = None, 0

        def new_variable(self) -> tuple[int, int]:
            return 0, 0

        def read(self, server: int, number: int, version: int) -> tuple[int, Any]:
            self.version += 1
            return self.version, Value(self.version)

    class SlowAtFirst:
        def place_variable(self, value: Any) -> Any:
            if value.version == 1:
                second_has_read.wait(0.2)
            return value

    storage: Any = StoredVariable(Servers(), SlowAtFirst(), None)  # type: ignore[arg-type]
    storage._copy = Value(-1)

    def read_second() -> None:
        storage.read()
        second_has_read.set()

    _run_in_threads([storage.read, read_second])
    assert storage._copy.version == storage._version == 2


@pytest.mark.slow
def test_the_launcher_sees_the_steps_of_all_epochs(one_worker: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[tuple[str, int]] = []
    monkeypatch.setattr(_fit_on_workers, "report_progress", lambda *progress: reported.append(progress))
    with one_worker.strategy.scope():
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    model.fit(X, Y, epochs=3, steps_per_epoch=2, verbose=0, initial_epoch=1)
    assert reported == [("fit", step) for step in (3, 4, 5, 6)]


def test_the_validation_data_is_closed_if_the_data_cannot_be_read(one_worker: Cluster) -> None:
    def broken() -> Any:
        raise RuntimeError("no rows")
        yield

    with one_worker.strategy.scope():
        model = make_model()
        model.compile(keras.optimizers.SGD(0.1), "mse")
    signature = (TensorSpec((None, 4), "float32"), TensorSpec((None, 1), "float32"))
    validation = Dataset.from_tensor_slices((X, Y)).filter(lambda x, y: True).batch(8)  # read ahead by a thread
    with pytest.raises(RuntimeError, match="no rows"):
        model.fit(
            Dataset.from_generator(broken, output_signature=signature),
            validation_data=validation,
            steps_per_epoch=2,
            verbose=0,
        )
