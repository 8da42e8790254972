"""A job that lost a worker permanently continues with fewer, on the same global batches."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.workers._job import SCRIPTS

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]

UNISONO = Path(sys.executable).with_name("unisono")


def test_a_job_of_two_continues_with_one(tmp_path: Path) -> None:
    found = {}
    for name, number in (("uninterrupted", "1"), ("lost", "1:2")):
        folder = tmp_path / name
        folder.mkdir()
        command = [str(UNISONO), "run", "-n", number, "--devices", "cpu:1", "--max-restarts", "3"]
        command += ["--run-dir", str(folder / "launched"), str(SCRIPTS / "losing.py"), str(folder)]
        variables = {key: value for key, value in os.environ.items() if key not in ("UNISONO_CPU_DEVICES", "NPROC")}
        done = subprocess.run(
            command, env=variables | {"JAX_PLATFORMS": "cpu"}, capture_output=True, text=True, timeout=200
        )
        assert done.returncode == 0, done.stdout + done.stderr
        with np.load(folder / "result.npz") as arrays:
            found[name] = dict(arrays)
    assert found["uninterrupted"].keys() == found["lost"].keys()
    assert found["lost"].pop("workers") == found["uninterrupted"].pop("workers") == 1
    assert (tmp_path / "lost" / "launched" / "logs" / "attempt-2").exists(), "two attempts were lost before"
    for name, expected in found["uninterrupted"].items():
        np.testing.assert_allclose(found["lost"][name], expected, rtol=1e-5, atol=1e-6, err_msg=name)
