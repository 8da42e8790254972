"""Workers that would train with different batches end before the first step, all with the same message."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """\
import os
import unisono

strategy = unisono.MultiWorkerMirroredStrategy()
import keras
import numpy as np

with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(np.ones((8, 2)), np.ones((8, 1)), batch_size=4 + int(os.environ["RANK"]), verbose=0)
"""


@pytest.mark.slow
def test_workers_with_different_batches_raise_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    result = subprocess.run(
        [str(Path(sys.executable).parent / "unisono"), "run", "-n", "2", "--devices", "cpu:1", "train.py"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "UNISONO_CPU_DEVICES"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert result.returncode == 1, result.stderr
    shown = result.stdout + result.stderr
    assert shown.count("ValueError: The workers call fit with different values:") >= 2, shown  # each of them
    assert "global batch: float32[4, 2], float32[4, 1] in worker 0" in shown
    assert "float32[5, 2], float32[5, 1] in worker 1" in shown
    assert 'train.py", line 11' in shown
