"""One small model, interrupted at every step and at every kind of moment, on every input: it resumes bit for bit.

The model is trained again and again from the same first values, so each of its programs is compiled once.
"""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from tests.state.store._power_failure import IMAGES, Disk
from unisono._src.keras_hooks import get_callback_state, get_owner
from unisono._src.processes import Preempted
from unisono._src.state.checkpoint import _writer
from unisono._src.state.checkpoint._snapshot import take_snapshot
from unisono._src.state.store import CheckpointError, CheckpointSeries, load
from unisono._src.training import Resume
from unisono._src.training import _resume as resume_module
from unisono.checkpoint import AnyOf, Best, EveryEpoch, EverySteps, SavePolicy
from unisono.data import Dataset

ROWS, BATCH, EPOCHS = 20, 8, 3
STEPS = EPOCHS * 3  # the third batch of an epoch has 4 rows
X = np.random.default_rng(0).normal(size=(ROWS, 4)).astype("float32")
Y = np.arange(ROWS) % 2


class InterruptedHereError(Exception):
    pass


class Noise(keras.layers.Layer):
    """Draws random numbers in validation, too."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = keras.random.SeedGenerator(1)

    def call(self, x: Any) -> Any:
        return x + 0.1 * keras.random.normal(keras.ops.shape(x), seed=self.generator)


class Interrupt(keras.callbacks.Callback):
    """Raises after so many steps; or sends SIGTERM after a batch of the validation after an epoch."""

    def __init__(self, steps: int | None = None, validation: tuple[int, int] | None = None) -> None:
        super().__init__()
        self._steps, self._validation, self._epoch = steps, validation, 0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._steps is not None:
            self._steps -= 1
            if self._steps == 0:
                raise InterruptedHereError

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._validation == (self._epoch, batch):
            os.kill(os.getpid(), signal.SIGTERM)


class Training:
    """The model, and how it is trained as if by a new process each time."""

    def __init__(self) -> None:
        keras.utils.set_random_seed(7)
        with unisono.MirroredStrategy(["cpu:0"]).scope():
            layers = [keras.Input((4,)), keras.layers.Dense(4), Noise(), keras.layers.Dropout(0.3)]
            self.model = keras.Sequential([*layers, keras.layers.Dense(2)])
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            self.model.compile(keras.optimizers.Adam(0.05), loss, metrics=["accuracy"])
        self.model.optimizer.build(self.model.trainable_variables)
        self._first = [(variable, np.array(variable.value)) for variable in self._variables()]

    def fit(self, data: Callable[[], dict[str, Any]], resume: Any = None, callbacks: Any = (), **arguments: Any) -> Any:
        """A run that resumes nothing begins with the first values, any other one with junk."""
        resumes = resume is not None and any(Path(resume.directory).glob("checkpoints/fit-1/*"))
        for variable, value in self._first:
            variable.assign(np.full_like(value, 3) if resumes else value)
        resume_module._finished.clear()
        if not resumes:
            keras.utils.set_random_seed(3)  # a resumed run is not seeded: it has the seeds of the first
        arguments = {"epochs": EPOCHS, "validation_data": validation(), "verbose": 0} | arguments
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="generator cannot be resumed at a position")
            self.model.fit(**data(), **arguments, callbacks=list(callbacks), resume=resume)
        return self.result()

    def result(self) -> Any:
        history = self.model.history
        return [np.array(variable.value).tobytes() for variable in self._variables()], history.epoch, history.history

    def _variables(self) -> list[Any]:
        return [*self.model.variables, *self.model.optimizer.variables]


def validation() -> Dataset:
    """Other rows in every pass."""
    return Dataset.from_tensor_slices((X, Y)).shuffle(ROWS).take(8).batch(4)


@pytest.fixture(scope="module")
def training() -> Training:
    return Training()


@pytest.fixture(autouse=True)
def no_fits_before() -> Iterator[None]:
    yield
    resume_module._finished.clear()


def arrays() -> dict[str, Any]:
    return {"x": X, "y": Y, "batch_size": BATCH}


def shuffled_within_batches() -> dict[str, Any]:
    return arrays() | {"shuffle": "batch"}


def stream() -> dict[str, Any]:
    return {"x": Dataset.from_tensor_slices((X, Y)).filter(lambda x, y: x[0] > -9).shuffle(ROWS).batch(BATCH)}


def rows_without_end() -> dict[str, Any]:
    return {"x": Dataset.from_tensor_slices((X, Y)).shuffle(ROWS).repeat().batch(BATCH), "steps_per_epoch": 3}


def stream_without_end() -> dict[str, Any]:
    filtered = Dataset.from_tensor_slices((X, Y)).filter(lambda x, y: x[0] > -9)
    return {"x": filtered.shuffle(ROWS).repeat().batch(BATCH), "steps_per_epoch": 3}


def generator() -> dict[str, Any]:
    def batches() -> Iterator[Any]:
        for number in range(STEPS):
            rows = slice(number, number + (4 if number % 3 == 2 else BATCH))
            yield X[rows], Y[rows]

    return {"x": batches(), "steps_per_epoch": 3}


def two_epochs_in_a_pass() -> dict[str, Any]:
    return {"x": np.concatenate([X, X, X])[:48], "y": np.arange(48) % 2, "batch_size": BATCH, "steps_per_epoch": 3}


def interrupt_and_resume(
    training: Training, data: Callable[[], dict[str, Any]], folder: Path, steps: int, policy: SavePolicy
) -> Any:
    resume = Resume(folder, policy=policy)
    with pytest.raises(InterruptedHereError):
        training.fit(data, resume, [Interrupt(steps)])
    return training.fit(data, resume)


INPUTS = [
    arrays,
    shuffled_within_batches,
    stream,
    rows_without_end,
    stream_without_end,
    generator,
    two_epochs_in_a_pass,
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "residency"),
    [*((data, "auto") for data in INPUTS), (arrays, "host"), (rows_without_end, "host")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_it_resumes_at_every_step(
    data: Callable[[], dict[str, Any]], residency: Any, training: Training, tmp_path: Path
) -> None:
    unisono.config.set_residency(residency)
    try:
        whole = training.fit(data)
        for steps in range(1, STEPS) if (data, residency) == (arrays, "auto") else (2, 5, 7):
            resumed = interrupt_and_resume(training, data, tmp_path / f"{steps}", steps, EverySteps(2))
            assert resumed == whole, steps
    finally:
        unisono.config.set_residency("auto")


@pytest.mark.parametrize("data", [arrays, stream, two_epochs_in_a_pass], ids=lambda make: make.__name__)
def test_it_resumes_at_the_end_of_an_epoch(
    data: Callable[[], dict[str, Any]], training: Training, tmp_path: Path
) -> None:
    whole = training.fit(data)
    for steps in (4, 8):
        assert interrupt_and_resume(training, data, tmp_path / f"{steps}", steps, EveryEpoch()) == whole


@pytest.mark.parametrize("validation_steps", [None, 1])
@pytest.mark.parametrize("moment", [(0, 0), (0, 1), (2, 1)])
def test_a_validation_that_is_interrupted_is_run_again_with_the_same_random_numbers(
    moment: tuple[int, int], validation_steps: int | None, training: Training, tmp_path: Path
) -> None:
    epoch, batch = moment
    if validation_steps is not None and batch >= validation_steps:
        moment = (epoch, 0)
    whole = training.fit(arrays, validation_steps=validation_steps)
    with pytest.raises(Preempted):
        training.fit(arrays, Resume(tmp_path), [Interrupt(validation=moment)], validation_steps=validation_steps)
    assert training.model.history.epoch == list(range(epoch)), "it has left before the end of the validation"
    assert training.fit(arrays, Resume(tmp_path), validation_steps=validation_steps) == whole


def saves(folder: Path) -> dict[int, int]:
    """The step of each checkpoint, by its number."""
    series = CheckpointSeries(folder / "checkpoints" / "fit-1", "save")
    return {number: load(series.path(number)).step for number in series.steps()}


def test_the_newest_checkpoints_are_kept_and_the_one_that_was_resumed_from(training: Training, tmp_path: Path) -> None:
    resume = Resume(tmp_path, policy=EverySteps(1), keep=2)
    with pytest.raises(InterruptedHereError):
        training.fit(arrays, resume, [Interrupt(5)])
    # The first one is that of the beginning; that of step 5 was not begun.
    assert saves(tmp_path) == {4: 3, 5: 4}
    training.fit(arrays, resume)
    assert saves(tmp_path) == {5: 4, 10: 9, 11: 9}, "the last two are those of step 9 and of the end"


def test_the_best_epoch_is_that_of_all_runs(training: Training, tmp_path: Path) -> None:
    _, _, history = training.fit(arrays, epochs=2)
    first, second = history["loss"]
    best = Best("loss", mode="max" if first > second else "min")  # by which the first epoch is the better one
    resume = Resume(tmp_path, policy=AnyOf(EverySteps(2), best), keep=1)
    with pytest.raises(InterruptedHereError):
        training.fit(arrays, resume, [Interrupt(5)], epochs=2)
    training.fit(arrays, resume, epochs=2)
    assert 3 in saves(tmp_path).values(), "the end of the first epoch"


class Slow(keras.callbacks.Callback):
    """Counts steps in a list of its own, and lets a checkpoint be written only when two more steps have run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.counted: list[int] = []
        self.weights: dict[int, bytes] = {}
        self._ran = threading.Event()
        commit = _writer.commit_snapshot

        def commit_later(folder: Path, snapshot: Any, step: int, *rest: Any) -> None:
            if step == 4:
                assert self._ran.wait(30)
            commit(folder, snapshot, step, *rest)

        monkeypatch.setattr(_writer, "commit_snapshot", commit_later)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.counted.append(len(self.counted) + 1)
        self.weights[len(self.counted)] = np.array(self.model.layers[0].kernel.value).tobytes()
        if len(self.counted) == 6:
            self._ran.set()

    def get_state(self) -> Any:
        return self.counted

    def set_state(self, state: Any) -> None:
        self.counted = state


def test_what_is_written_is_what_there_was_when_the_checkpoint_was_begun(
    training: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(monkeypatch)
    training.fit(arrays, Resume(tmp_path, policy=EverySteps(4), keep=9), [slow], epochs=2)
    loaded = CheckpointSeries(tmp_path / "checkpoints" / "fit-1", "save")
    (begun,) = [load(loaded.path(number)) for number in loaded.steps() if load(loaded.path(number)).step == 4]
    assert begun.state["callbacks"]["Slow-0"]["own"] == [1, 2, 3, 4]
    kernels = [array for name, array in begun.arrays.items() if name.endswith("kernel") and array.shape == (4, 4)]
    assert slow.weights[4] in [array.tobytes() for array in kernels]


def test_there_is_a_checkpoint_before_the_first_step(training: Training, tmp_path: Path) -> None:
    with pytest.raises(InterruptedHereError):
        training.fit(arrays, Resume(tmp_path, policy=EverySteps(4)), [Interrupt(1)])
    assert saves(tmp_path) == {1: 0}, "so that a restart has the same order of data"


def test_callbacks_that_run_in_threads_have_seen_all_steps_of_a_checkpoint(training: Training, tmp_path: Path) -> None:
    class Count(keras.callbacks.Callback):
        async_safe = True
        count = 0

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            time.sleep(0.05)
            self.count += 1

        def get_state(self) -> int:
            return self.count

        def set_state(self, state: int) -> None:
            self.count = state

    training.fit(arrays, Resume(tmp_path, policy=EverySteps(2), keep=9), [Count()], epochs=1)
    series = CheckpointSeries(tmp_path / "checkpoints" / "fit-1", "save")
    kept = [load(series.path(number)) for number in series.steps()]
    assert [saved.state["callbacks"]["Count-0"]["own"] for saved in kept] == [saved.step for saved in kept]
    assert [saved.step for saved in kept] == [0, 2, 3]


def test_a_checkpoint_that_cannot_be_written_ends_training_after_the_next_call(
    training: Training, tmp_path: Path
) -> None:
    class Obstruct(keras.callbacks.Callback):
        """Puts a file in place of the folder after step 3; after step 5 the checkpoint of step 4 has failed."""

        steps = 0

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.steps += 1
            while self.steps in (3, 5) and any(each.name == "unisono-writer" for each in threading.enumerate()):
                time.sleep(0.01)
            if self.steps == 3:
                shutil.rmtree(tmp_path / "checkpoints" / "fit-1")
                (tmp_path / "checkpoints" / "fit-1").touch()

    obstruct = Obstruct()
    with pytest.raises(CheckpointError, match=r"fit-1"):
        training.fit(arrays, Resume(tmp_path, policy=EverySteps(4)), [obstruct])
    assert obstruct.steps == 5, "not 8, when the next one is due"


@pytest.mark.parametrize("kind", IMAGES)
def test_it_resumes_from_what_a_power_failure_leaves(
    kind: str, training: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = training.fit(arrays)
    root = tmp_path / "disk"
    root.mkdir()
    disk = Disk(root)
    with disk.recording(monkeypatch):
        with pytest.raises(InterruptedHereError):
            training.fit(arrays, Resume(root / "run", policy=EverySteps(2)), [Interrupt(7)])
        disk.write_image(kind, tmp_path / "image")
    resume = Resume(tmp_path / "image" / "run", policy=EverySteps(2))
    assert max(saves(tmp_path / "image" / "run").values()) >= 4
    assert training.fit(arrays, resume) == whole


def test_what_is_handed_to_the_writer_shares_no_memory_with_the_model(training: Training) -> None:
    """On CPUs np.asarray of an array of JAX is its memory. Whether JAX writes into it while a NumPy array refers to it
    is not documented: JAX 0.10.2 does not, and copies in every step instead."""
    model = training.model
    training.fit(arrays, epochs=1)
    shards = [shard for variable in model.variables for shard in variable._value.addressable_shards]
    memory = {shard.data.unsafe_buffer_pointer() for shard in shards}
    fetched = get_owner(model).placement.fetch({variable.path: variable._value for variable in model.variables})
    assert memory.isdisjoint(map(_address, fetched.values()))
    assert memory.isdisjoint(map(_address, take_snapshot({"model": model}).arrays.values()))


def test_arrays_of_callbacks_are_copied() -> None:
    stopping = keras.callbacks.EarlyStopping(restore_best_weights=True)
    stopping.on_train_begin()
    stopping.best_weights = [np.zeros(3)]
    _, kept = get_callback_state(stopping)
    assert [array.tolist() for array in kept.values()] == [[0, 0, 0]]
    stopping.best_weights[0][:] = 1
    assert [array.tolist() for array in kept.values()] == [[0, 0, 0]]


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])
