"""Tests with real trackers: `make test-trackers` runs them, in an environment of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.workers._job import free_ports

SCRIPT = Path(__file__).parent / "scripts" / "train.py"

# `_train` runs the script and returns its output: the tracker, its options, whether it has to succeed, and how many
# workers `unisono run` starts, 0 for a plain process.
Train = Callable[..., str]

# What a run that nobody disturbs logs: steps of batches, and epochs.
BATCH_STEPS = list(range(2, 25, 2))
EPOCHS = [0, 1, 2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and item.get_closest_marker("trackers") is None:
            raise pytest.UsageError(
                f"{item.nodeid} is not marked: write pytestmark = pytest.mark.trackers in its file."
            )


@pytest.fixture(scope="session")
def mlflow_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an MLflow server with an SQLite store."""
    folder, (port,) = tmp_path_factory.mktemp("mlflow"), free_ports(1)
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    store = ["--backend-store-uri", f"sqlite:///{folder}/runs.db", "--artifacts-destination", str(folder / "files")]
    log = folder / "server.log"
    with log.open("wb") as output:
        server = subprocess.Popen([*command, *store], stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        deadline = time.monotonic() + 180
        while not _answers(f"http://127.0.0.1:{port}/health"):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, 9)
        server.wait()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


@pytest.fixture
def train(tmp_path: Path) -> Train:
    """Runs the script in a folder of this test."""

    def run(tracker: str, *options: str, succeeds: bool = True, workers: int = 0) -> str:
        start: Sequence[str] = [str(SCRIPT)]
        if workers:
            launch = ["-m", "unisono_launch", "run", "-n", str(workers), "--max-restarts", "1"]
            start = [*launch, "--run-dir", str(tmp_path / "job"), str(SCRIPT)]
        return run_python(*start, tracker, str(tmp_path), *options, succeeds=succeeds)

    return run


def run_python(*words: str, succeeds: bool = True) -> str:
    """Runs Python in a process of its own, since trackers leave threads, and returns its output."""
    process = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "JAX_PLATFORMS": "cpu", "UNISONO_CPU_DEVICES": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
    )
    assert (process.returncode == 0) == succeeds, process.stdout
    return process.stdout


# Begins a script: `fit` trains two epochs with the callbacks that it is given.
FIT = """
import unisono, keras, numpy as np

def fit(*callbacks):
    with unisono.MirroredStrategy(["cpu:0"]).scope():
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    return model.fit(np.ones((8, 2)), np.ones((8, 1)), batch_size=2, epochs=2, verbose=0, callbacks=list(callbacks))
"""


def losses_of(output: str) -> list[float]:
    """Validation losses that the script has printed."""
    found = re.findall(r"losses \[(.*?)\]", output)
    return [float(loss) for loss in found[0].split(",")]
