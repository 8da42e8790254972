"""Starts the processes of the two sides and ends them: each has a deadline and its own process group."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ._cells import Cell
from ._compare import Solution

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
AT_ONCE = 2
SECONDS_TO_START, SECONDS_A_PROBLEM = 60, 20
OUTPUT_SHOWN = 6000


@dataclass(frozen=True)
class Group:
    """The problems that one process solves."""

    side: str
    replicas: int
    problems: tuple[str, ...]
    folder: Path

    @property
    def output(self) -> Path:
        return self.folder / "output.txt"

    def solution(self, problem: str) -> Solution:
        """Raises AssertionError, with what the process said, where there is none."""
        try:
            facts = json.loads((self.folder / f"{problem}.json").read_text())
        except FileNotFoundError:
            raise AssertionError(f"{self} left no result for {problem}:\n{_tail(self.output)}") from None
        assert "error" not in facts, f"{self} failed at {problem}:\n{facts['error']}"
        with np.load(self.folder / f"{problem}.npz") as arrays:
            return Solution(dict(arrays), facts)

    def __str__(self) -> str:
        return f"{self.side} on {self.replicas}"


def solve_all(cells: list[Cell], candidate: str, folder: Path) -> dict[tuple[str, int], Group]:
    """The groups by side and replicas, all solved. `candidate` is the side that is put to the test."""
    wanted: dict[tuple[str, int], dict[str, None]] = {}
    for cell in cells:
        wanted.setdefault(("oracle", 1), {})[cell.problem.id] = None
        wanted.setdefault((candidate, cell.replicas), {})[cell.problem.id] = None
    groups = {}
    for (side, replicas), problems in wanted.items():
        own = folder / f"{side}{replicas}"
        own.mkdir(exist_ok=True)
        groups[side, replicas] = Group(side, replicas, tuple(problems), own)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(_solve, groups.values()))
    return groups


def _solve(group: Group) -> None:
    """Starts again after a problem that took the whole process down (XLA aborts instead of raising)."""
    deadline = time.monotonic() + SECONDS_TO_START + SECONDS_A_PROBLEM * len(group.problems)
    left = list(group.problems)
    while left:
        ending = _run(group, left, deadline - time.monotonic())
        left = [name for name in left if not (group.folder / f"{name}.json").exists()]
        if left:
            why = {"error": f"The process {ending} in or before this problem.\n{_tail(group.output)}"}
            (group.folder / f"{left.pop(0)}.json").write_text(json.dumps(why))
        if time.monotonic() > deadline:
            return


def _run(group: Group, problems: list[str], seconds: float) -> str:
    """Says how it ended."""
    command = [
        sys.executable,
        str(HERE / "_runner.py"),
        "--side",
        group.side,
        "--replicas",
        str(group.replicas),
    ]
    command += ["--problems", ",".join(problems), "--out", str(group.folder)]
    with group.output.open("w") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=_environment(), start_new_session=True
        )
        try:
            return f"ended with code {process.wait(timeout=max(seconds, 1.0))}"
        except subprocess.TimeoutExpired:
            return f"was killed after {seconds:.0f} s"
        finally:
            # Its children too; they share its group. Gone already where all went well.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _environment() -> dict[str, str]:
    """What a user's shell would have: nothing that this test run set for its own JAX."""
    ours = ("JAX_", "XLA_", "KERAS_", "NPROC", "PYTHON", "UNISONO_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    mark = {name: value for name, value in os.environ.items() if name == "UNISONO_TEST_RUN"}  # tests/conftest.py
    return kept | mark | {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(SOURCE)}


def _tail(path: Path) -> str:
    return path.read_text(errors="replace")[-OUTPUT_SHOWN:] if path.exists() else "(no output)"
