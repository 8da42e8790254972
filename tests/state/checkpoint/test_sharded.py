"""State that is sharded: written in parts by several processes, and restored to the bit on any other devices."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from tests.workers._job import finish, job
from unisono._src.keras_hooks import raw_value
from unisono._src.state.store import CheckpointSeries, load
from unisono._src.strategy import Strategy
from unisono.checkpoint import Checkpoint

SCRIPT = Path(__file__).parent / "scripts" / "sharded_workers.py"
KINDS = ("mirrored", "optimizer", "all", "mesh")
NUM_DEVICES = (1, 2, 4, 8)


def strategy_of(kind: str, num_devices: int) -> Strategy:
    devices = [f"cpu:{number}" for number in range(num_devices)]
    if kind == "mirrored":
        return unisono.MirroredStrategy(devices)
    if kind == "mesh":
        mesh = {"batch": max(num_devices // 2, 1), "model": min(num_devices, 2)}
        return unisono.ModelParallelStrategy(mesh, devices=devices)
    return unisono.FullyShardedStrategy(devices, shard=kind, min_shard_size=0)


class Matrix:
    """A model for each strategy and number of devices, with different values in each, and a checkpoint of each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._models: dict[tuple[str, int], keras.Model] = {}

    def model(self, kind: str, num_devices: int) -> keras.Model:
        if (kind, num_devices) not in self._models:
            with strategy_of(kind, num_devices).scope():
                layers = [keras.layers.Dense(16), keras.layers.Dense(3, dtype="bfloat16")]
                model = keras.Sequential([keras.Input((8,)), *layers])
                model.compile(keras.optimizers.Adam(), "mse")
                model.optimizer.build(model.trainable_variables)
            self._models[kind, num_devices] = model
        return self._models[kind, num_devices]

    def save(self, kind: str, num_devices: int, seed: int) -> tuple[str, list[bytes]]:
        model, draw = self.model(kind, num_devices), np.random.default_rng(seed)
        for variable in variables_of(model):
            variable.assign(np.asarray(draw.normal(size=variable.shape) * 100).astype(str(variable.dtype)))
        path = Checkpoint(model=model).write(self._folder / f"{kind}-{num_devices}-{seed}")
        return path, bytes_of(model)

    def check(self, path: str, expected: list[bytes], kind: str, num_devices: int) -> None:
        model = self.model(kind, num_devices)
        layouts = [raw_value(variable).sharding for variable in variables_of(model)]
        Checkpoint(model=model).restore(path).assert_consumed()
        assert bytes_of(model) == expected
        assert [raw_value(variable).sharding for variable in variables_of(model)] == layouts


def variables_of(model: keras.Model) -> list[Any]:
    return [*model.variables, *model.optimizer.variables]


def bytes_of(model: keras.Model) -> list[bytes]:
    return [variable.numpy().tobytes() for variable in variables_of(model)]


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    return Matrix(tmp_path_factory.mktemp("matrix"))


CELLS = [(kind, number) for kind in KINDS for number in NUM_DEVICES]


@pytest.mark.slow
def test_what_one_strategy_saves_another_restores_on_more_and_on_fewer_devices(matrix: Matrix) -> None:
    cells = [("mirrored", 2), ("all", 4), ("mesh", 4), ("mirrored", 2)]
    for number, (one, other) in enumerate(itertools.pairwise(cells)):
        path, expected = matrix.save(*one, seed=number)
        matrix.check(path, expected, *other)


@pytest.mark.full
@pytest.mark.parametrize("saved", CELLS, ids=str)
def test_every_strategy_restores_what_every_other_saves(matrix: Matrix, saved: tuple[str, int]) -> None:
    path, expected = matrix.save(*saved, seed=CELLS.index(saved))
    for restored in CELLS:
        matrix.check(path, expected, *restored)


RESUMED = [pytest.param("all", 2, marks=pytest.mark.slow)]
RESUMED += [pytest.param(*cell, marks=pytest.mark.full) for cell in (("mesh", 4), ("optimizer", 4), ("all", 8))]


@pytest.mark.parametrize(("kind", "num_devices"), RESUMED)
def test_a_run_that_is_resumed_on_the_same_mesh_has_the_same_bits(tmp_path: Path, kind: str, num_devices: int) -> None:
    x = np.random.default_rng(0).normal(size=(24, 8)).astype("float32")

    def fit(epochs: int, folder: str) -> keras.Model:
        keras.utils.set_random_seed(1)
        with strategy_of(kind, num_devices).scope():
            layers = [keras.layers.Dense(16, "relu"), keras.layers.Dropout(0.3), keras.layers.Dense(4)]
            model = keras.Sequential([keras.Input((8,)), *layers])
            model.compile(keras.optimizers.Adam(0.01), "mse")
        model.fit(x, x[:, :4], batch_size=8, epochs=epochs, verbose=0, resume=tmp_path / folder)
        return model

    expected = bytes_of(fit(3, "whole"))
    fit(2, "parts")
    assert bytes_of(fit(3, "parts")) == expected


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_two_workers_save_and_restore_state_that_is_sharded_over_them(tmp_path: Path) -> None:
    with job(tmp_path, str(SCRIPT), [str(tmp_path)], workers=2, devices=2) as workers:
        codes = finish(workers, 200)
        outputs = [worker.output() for worker in workers]
    assert codes == [0, 0], "\n".join(outputs)
    chief, second = (json.loads(output.rpartition("FOUND ")[2].splitlines()[0]) for output in outputs)
    for each in (chief, second):
        assert each["shards"] == [[8, 4], [8, 4]]  # of a kernel of shape (8, 16)
        for name in ("restored", "sharded", "weights folder", "divided", "resumed"):
            assert each[name], name
        # Sums of metrics alone are gathered: a kernel is 0.2 of all. Half of the state is read, and what all have.
        assert each["gathered"] < 0.05
        assert 0.5 <= each["read"] < 0.6
        assert each["managed"] == ["ckpt-3"]
        for name in ("part 1", "thread 1"):
            assert "no room on worker 1" in each[name]
        for name in ("part 0", "thread 0"):
            assert "no room on worker 0" in each[name]
        assert "does not see the folder" in each["not shared"]
        assert "this layer refuses" in each["refused"]
        assert "sharded over processes" in each["export"]
        assert each["good"] == "nothing"
    logs = {"worker-0.log", "worker-1.log"}
    written = {
        "callback",
        "ckpt-1",
        "divided",
        "logs",
        "managed",
        "model.keras",
        "model.weights.h5",
        "run",
        "trained.npz",
    }
    assert set(chief["left"]) - logs == written | {"bad-manager"}
    assert os.listdir(tmp_path / "bad-manager") == []
    check_parts(tmp_path)
    check_restored_in_one_process(tmp_path)


@pytest.mark.full
@pytest.mark.timeout(400)
def test_checkpoints_are_restored_by_other_numbers_of_processes(tmp_path: Path) -> None:
    def made() -> keras.Model:
        model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16), keras.layers.Dense(4)])
        model.compile(keras.optimizers.Adam(), "mse")
        model.optimizer.build(model.trainable_variables)
        return model

    with strategy_of("all", 8).scope():
        model = made()
    for number, variable in enumerate(variables_of(model)):
        variable.assign(np.random.default_rng(number).normal(size=variable.shape).astype(str(variable.dtype)))
    expected = bytes_of(model)
    path = Checkpoint(model=model).write(tmp_path / "one-process")
    script = Path(SCRIPT).with_name("restore_sharded.py")
    for num_workers, kind in ((2, "all"), (4, "mesh"), (4, "all")):
        output = str(tmp_path / f"{num_workers}-{kind}.npz")
        with job(tmp_path, str(script), [path, output, kind], workers=num_workers) as workers:
            codes = finish(workers, 120)
            assert codes == [0] * num_workers, "\n".join(worker.output() for worker in workers)
        with np.load(output) as arrays:
            assert [array.tobytes() for array in arrays.values()] == expected
        path = f"{output}.ckpt"
        assert sum(name.startswith("arrays-") for name in os.listdir(path)) == num_workers
    again = made()
    Checkpoint(model=again).restore(path).assert_consumed()
    assert bytes_of(again) == expected


def check_parts(folder: Path) -> None:
    """Each worker has written its shards, and the chief what every worker has."""
    parts = [f"arrays-0000{part}-of-00002.safetensors" for part in (0, 1)]
    newest = CheckpointSeries(folder / "run" / "checkpoints" / "fit-1", "save")
    for checkpoint in (folder / "ckpt-1", folder / "callback" / "2", newest.path(newest.steps()[-1])):
        assert sorted(os.listdir(checkpoint)) == [*parts, "manifest.json", "state.json"]
        manifest = json.loads((checkpoint / "manifest.json").read_text())
        sizes = [manifest["body"]["files"][name]["bytes"] for name in parts]
        whole = sum(array.nbytes for array in load(checkpoint).arrays.values())
        assert max(sizes) < 0.5 * whole + 4000  # names and small arrays; all state has 5 kB
        kernels = [entry for name, entry in manifest["body"]["arrays"].items() if entry["shape"] == [8, 16]]
        assert [[part for part, *_ in kernel["pieces"]] for kernel in kernels] == [[0, 0, 1, 1]] * len(kernels)

    for checkpoint, expected in (("ckpt-1", [[0, 0, 5]]), ("divided", [[0, 0, 2], [1, 2, 5]])):
        arrays = json.loads((folder / checkpoint / "manifest.json").read_text())["body"]["arrays"]
        biases = [entry["pieces"] for entry in arrays.values() if entry["shape"] == [5]]
        assert biases == [expected] * 3  # one that does not divide by four devices, and what Adam keeps for it


class Refuses(keras.layers.Dense):
    """The layer of that name in the script."""


def check_restored_in_one_process(folder: Path) -> None:
    with np.load(folder / "trained.npz") as arrays:
        trained = [array.tobytes() for array in arrays.values()]
    for kind, num_devices in (("mirrored", 2), ("all", 8)):
        with strategy_of(kind, num_devices).scope():
            layers = [Refuses(16, "relu"), keras.layers.Dropout(0.2), keras.layers.Dense(5)]
            model = keras.Sequential([keras.Input((8,)), *layers])
            model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
        checkpoint = Checkpoint(model=model, epoch=0)
        checkpoint.restore(folder / "ckpt-1").expect_partial()
        assert checkpoint.epoch == 7
        assert set(bytes_of(model)) >= {value for value in trained if len(value) > 16}
        weights = [weight.tobytes() for weight in model.get_weights()]
        for name in ("model.weights.h5", "callback/2", "callback/2.weights.h5"):
            model.set_weights([np.zeros_like(weight) for weight in model.get_weights()])
            model.load_weights(folder / name)
            assert [weight.tobytes() for weight in model.get_weights()] == weights
