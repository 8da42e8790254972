"""Jobs of several workers give what one device gives, whatever each of them drew."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.quick_compilation import QUICK_COMPILATION
from tests.workers._job import SCRIPTS, finish, job

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

# What the default tier leaves out: 40 of its 100 seconds.
LEFT_OUT = ("mixed_rows", "own_steps")

SHAPES = [
    pytest.param(2, 1, id="2-workers-of-1-device", marks=pytest.mark.full),
    pytest.param(2, 2, id="2-workers-of-2-devices", marks=pytest.mark.full),
    pytest.param(4, 1, id="4-workers-of-1-device", marks=pytest.mark.full),
    pytest.param(4, 2, id="4-workers-of-2-devices", marks=pytest.mark.full),
]


@pytest.fixture(scope="module")
def one_device(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    return _run_alone(tmp_path_factory.mktemp("one-device"))


def test_two_workers_give_what_one_device_gives(tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    _check_job(tmp_path, _run_alone(alone, *LEFT_OUT), 2, 2, *LEFT_OUT)


@pytest.mark.parametrize(("workers", "devices"), SHAPES)
def test_several_workers_give_what_one_device_gives(
    tmp_path: Path, one_device: dict[str, np.ndarray], workers: int, devices: int
) -> None:
    _check_job(tmp_path, one_device, workers, devices)


def _run_alone(folder: Path, *left_out: str) -> dict[str, np.ndarray]:
    variables = {name: value for name, value in os.environ.items() if name != "UNISONO_CPU_DEVICES"}
    variables["XLA_FLAGS"] = QUICK_COMPILATION
    words = [sys.executable, str(SCRIPTS / "everything.py"), str(folder), *left_out]
    subprocess.run(words, env=variables, check=True, timeout=200)
    return _results(folder, 0)


def _check_job(tmp_path: Path, one_device: dict[str, np.ndarray], workers: int, devices: int, *left_out: str) -> None:
    arguments, flags = [str(tmp_path), *left_out], {"XLA_FLAGS": QUICK_COMPILATION}
    with job(tmp_path, "everything.py", arguments, workers=workers, devices=devices, environment=flags) as started:
        codes = finish(started, 300)
        assert codes == [0] * workers, "\n".join(worker.output() for worker in started)
        outputs = [worker.output() for worker in started]
    for index in range(workers):
        found = _results(tmp_path, index)
        assert found.keys() == one_device.keys()
        for name, expected in one_device.items():
            np.testing.assert_allclose(found[name], expected, rtol=1e-5, atol=1e-5, err_msg=f"worker {index}: {name}")
    # Only the chief shows how far training is, and writes.
    assert ["Epoch 1/2" in output for output in outputs] == [True] + [False] * (workers - 1)
    assert (tmp_path / "chief.weights.h5").exists()


def _results(folder: Path, index: int) -> dict[str, np.ndarray]:
    with np.load(folder / f"results-{index}.npz") as stored:
        return dict(stored)
