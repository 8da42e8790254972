"""A custom loop with three more lines, killed again and again: its result is that of an uninterrupted one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPT = Path(__file__).parent / "scripts" / "loop.py"
STEPS, SAVE_EVERY = 30, 4

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert _run(folder, 2, STEPS) == 0
    return folder


@pytest.mark.full
def test_killed_at_any_step_it_ends_bit_equal(tmp_path: Path, undisturbed: Path) -> None:
    # Before the first commit; within; while one is probably being written behind; at the next steps.
    for at_step in (2, 6, 12, 13, 25):
        assert _run(tmp_path, 2, STEPS, kill_at=at_step) == -signal.SIGKILL
    assert _run(tmp_path, 2, STEPS) == 0
    _assert_bit_equal(tmp_path, undisturbed)
    _assert_few_steps_twice(tmp_path, undisturbed, kills=5)


@pytest.mark.full
def test_killed_while_it_writes_it_ends_bit_equal(tmp_path: Path, undisturbed: Path) -> None:
    for _ in range(2):
        assert _run(tmp_path, 2, STEPS, "die-writing") == -signal.SIGKILL
    names = os.listdir(tmp_path / "ckpt")
    assert names == [name for name in names if name.startswith("ckpt-")]
    assert _run(tmp_path, 2, STEPS) == 0
    _assert_bit_equal(tmp_path, undisturbed)
    _assert_few_steps_twice(tmp_path, undisturbed, kills=2)


@pytest.mark.full
def test_on_another_number_of_replicas_the_order_is_the_same_and_the_values_agree(tmp_path: Path) -> None:
    first = tmp_path / "2"
    first.mkdir()
    assert _run(first, 2, 8, "no-dropout") == 0
    results = {}
    for replicas in (1, 2, 4):
        folder = tmp_path / f"2-then-{replicas}"
        subprocess.run(["cp", "-r", first, folder], check=True)
        assert _run(folder, replicas, 14, "no-dropout") == 0
        results[replicas] = folder
    for folder in results.values():
        assert _steps(folder) == _steps(results[2])
        found, expected = _result(folder), _result(results[2])
        for name, value in expected.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-5, err_msg=name)


def _run(folder: Path, replicas: int, steps: int, *options: str, kill_at: int | None = None) -> int:
    """Runs the script, kills it when it has begun step ``kill_at``, and returns its exit code."""
    environment = {name: value for name, value in os.environ.items() if name not in ("NPROC", "UNISONO_CPU_DEVICES")}
    num_before = len(_steps(folder))
    command = [sys.executable, SCRIPT, folder, str(replicas), str(steps), *options]
    with open(folder / "output.log", "ab") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 120
        while process.poll() is None:
            assert time.monotonic() < deadline, (folder / "output.log").read_text()
            if kill_at is not None and any(step >= kill_at for step, _ in _steps(folder)[num_before:]):
                break
            time.sleep(0.01)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(30)
    if process.returncode not in (0, -signal.SIGKILL):
        print((folder / "output.log").read_text())
    return process.returncode


def _steps(folder: Path) -> list[Any]:
    """The steps that were begun, with the rows of each; of a line that a kill cut off, nothing."""
    path = folder / "steps.jsonl"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("]\n")]


def _result(folder: Path) -> dict[str, Any]:
    with np.load(folder / "result.npz") as arrays:
        return dict(arrays)


def _assert_bit_equal(folder: Path, expected: Path) -> None:
    found, wanted = _result(folder), _result(expected)
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def _assert_few_steps_twice(folder: Path, expected: Path, kills: int) -> None:
    """After each kill no more is done again than what came since the last commit; and with the same rows."""
    right = dict(_steps(expected))
    done = _steps(folder)
    assert all(right[step] == rows for step, rows in done)
    # Up to SAVE_EVERY steps, and as many again where the kill came before a commit that was being written.
    assert len(done) <= STEPS + kills * 2 * SAVE_EVERY
