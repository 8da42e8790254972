"""Scripts for TensorFlow, one for each official tutorial and for each kind of text that users start from.

They are ordinary scripts in `scripts/`, which know nothing of Unisono, and check by themselves what they reach. Here
they run through `unisono run --as-tensorflow`, on 1, 2 and 4 CPU replicas.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPTS = Path(__file__).parent / "scripts"
DATASETS = Path(__file__).parents[2] / "examples" / "data"

# Beside the four minutes that a script has at most, for the launcher.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(270)]
DEADLINE = 240

# Left to the full tests, since other scripts do most of what they do.
COVERED_BY_OTHER_SCRIPTS = (
    "core_apis.py",
    "custom_training.py",
    "guide_distributed_training.py",
    "guide_gpu.py",
    "guide_tpu.py",
    "input.py",
    "keras_fit.py",
    "keras_guide_distributed.py",
    "keras_guide_loop.py",
    "keras_guide_train_step.py",
    "migrate_fault_tolerance.py",
    "migrate_mirrored.py",
    "migrate_multi_worker.py",
    "multi_worker_keras.py",
    "old_habits.py",
    "multi_worker_loop.py",
    "parameter_server.py",
    "ragged_and_sparse.py",
    "random_numbers.py",
    "save_and_load.py",
    "seed_mlp.py",
    "seed_tutorial.py",
    "text_pairs.py",
    "tfrecord.py",
    "xray_tpu.py",
)
ON_TPUS = ("guide_tpu.py", "migrate_tpu.py", "xray_tpu.py")
NAMES = (
    "seed_small.py",
    "seed_mlp.py",
    "seed_guide.py",
    "seed_tutorial.py",
    "seed_loop.py",
    "guide_distributed_training.py",
    "guide_tpu.py",
    "keras_fit.py",
    "custom_training.py",
    "input.py",
    "save_and_load.py",
    "multi_worker_keras.py",
    "multi_worker_loop.py",
    "parameter_server.py",
    "migrate_mirrored.py",
    "migrate_multi_worker.py",
    "migrate_fault_tolerance.py",
    "migrate_tpu.py",
    "keras_guide_distributed.py",
    "keras_guide_loop.py",
    "keras_guide_train_step.py",
    "xray_tpu.py",
    "guide_gpu.py",
    "random_numbers.py",
    "tfrecord.py",
    "text_pairs.py",
    "old_habits.py",
    "ragged_and_sparse.py",
    "core_apis.py",
)


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with MNIST in place of Fashion-MNIST, which the repository does not include."""
    folder = tmp_path_factory.mktemp("datasets")
    with np.load(DATASETS / "mnist.npz") as mnist:
        rows = {name: mnist[name][: 8000 if name.endswith("train") else 1000] for name in mnist.files}
    np.savez(folder / "fashion_mnist.npz", **rows)
    return folder


def test_every_script_is_run() -> None:
    assert sorted(NAMES) == sorted(path.name for path in SCRIPTS.glob("*.py"))


def cases() -> Iterator[Any]:
    for script in NAMES:
        for replicas in (1, 2, 4):
            quick = replicas == 2 and script not in COVERED_BY_OTHER_SCRIPTS
            yield pytest.param(script, replicas, marks=[] if quick else pytest.mark.full)


@pytest.mark.parametrize(("script", "replicas"), list(cases()))
def test_a_script_runs_unchanged(script: str, replicas: int, tmp_path: Path, datasets: Path) -> None:
    outside = ("UNISONO_CPU_DEVICES", "NPROC", "TF_CONFIG", "KERAS_BACKEND")
    environment = {name: value for name, value in os.environ.items() if name not in outside}
    environment["UNISONO_DATASETS"] = str(datasets)
    if script in ON_TPUS:
        environment["UNISONO_FAKE_TPU"] = str(replicas)
    command = ["run", "--as-tensorflow", "--devices", f"cpu:{replicas}", str(SCRIPTS / script)]
    result = subprocess.run(
        [sys.executable, "-m", "unisono_launch", *command],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    said = f"{result.stdout[-3000:]}\n{result.stderr[-5000:]}"
    assert result.returncode == 0, said
    assert result.stdout.splitlines()[-1] == "ok", said
