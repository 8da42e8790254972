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

from tests.quick_compilation import QUICK_COMPILATION

from ._cells import Cell
from ._compare import Solution

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
AT_ONCE = max(2, (os.cpu_count() or 1) // 2)
SECONDS_TO_START, SECONDS_A_PROBLEM = 60, 20
OUTPUT_SHOWN = 6000
MOST_SOLUTIONS = 100  # of one process, whose memory grows with what it has compiled


@dataclass(frozen=True)
class Group:
    """The solutions that one process computes, or one job of several."""

    side: str
    devices: int
    solutions: tuple[str, ...]
    folder: Path
    processes: int = 1

    @property
    def output(self) -> Path:
        return self.folder / "output.txt"

    def solution(self, name: str) -> Solution:
        """Raises AssertionError, with what the process said, where there is none."""
        try:
            facts = json.loads((self.folder / f"{name}.json").read_text())
        except FileNotFoundError:
            raise AssertionError(f"{self} left no result for {name}:\n{_tail(self.output)}") from None
        assert "error" not in facts, f"{self} failed at {name}:\n{facts['error']}"
        with np.load(self.folder / f"{name}.npz") as arrays:
            return Solution(dict(arrays), facts)

    def __str__(self) -> str:
        return f"{self.side} on {self.devices}"


def oracle_solution(cell: Cell) -> str:
    """The name of the oracle's solution: one for all strategies."""
    return f"stock:{cell.problem.id}"


def solve_all(cells: list[Cell], candidate: str, folder: Path) -> dict[tuple[str, int, str], Group]:
    """The groups by side, devices and solution, all solved. `candidate` is the side that is put to the test."""
    wanted: dict[tuple[str, int, int], dict[str, None]] = {}
    for cell in cells:
        wanted.setdefault(("oracle", 1, 1), {})[oracle_solution(cell)] = None
        processes = cell.processes if candidate == "unisono" else 1
        wanted.setdefault((candidate, cell.devices, processes), {})[cell.solution] = None
    groups = []
    for (side, devices, processes), solutions in wanted.items():
        names = tuple(solutions)
        for start in range(0, len(names), MOST_SOLUTIONS):
            own = folder / f"{side}{devices}-{start}"
            own.mkdir(exist_ok=True)
            groups.append(Group(side, devices, names[start : start + MOST_SOLUTIONS], own, processes))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(_solve, groups))
    return {(group.side, group.devices, name): group for group in groups for name in group.solutions}


def _solve(group: Group) -> None:
    """Starts again after a problem that took the whole process down (XLA aborts instead of raising)."""
    deadline = time.monotonic() + group.processes * (SECONDS_TO_START + SECONDS_A_PROBLEM * len(group.solutions))
    left = list(group.solutions)
    while left:
        ending = _run(group, left, deadline - time.monotonic())
        left = [name for name in left if not (group.folder / f"{name}.json").exists()]
        if left:
            why = {"error": f"The process {ending} in or before this problem.\n{_tail(group.output)}"}
            (group.folder / f"{left.pop(0)}.json").write_text(json.dumps(why))
        if time.monotonic() > deadline:
            return


def _run(group: Group, solutions: list[str], seconds: float) -> str:
    """Says how it ended."""
    command = [
        sys.executable,
        *(_launcher(group) if group.processes > 1 else []),
        str(HERE / "_runner.py"),
        "--side",
        group.side,
        "--devices",
        str(group.devices),
    ]
    command += ["--solutions", ",".join(solutions), "--out", str(group.folder)]
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


def _launcher(group: Group) -> list[str]:
    options = ["--devices", "cpu:1", "--run-dir", str(group.folder / "run")]
    return ["-m", "unisono_launch", "run", "-n", str(group.processes), *options]


def _environment() -> dict[str, str]:
    """What a user's shell would have: nothing that this test run set for its own JAX, but for compiled programs."""
    ours = ("JAX_", "XLA_", "KERAS_", "NPROC", "PYTHON", "UNISONO_")
    of_conftest = ("JAX_COMPILATION_CACHE_DIR", "JAX_PERSISTENT_CACHE_", "UNISONO_TEST_RUN")
    kept = {
        name: value for name, value in os.environ.items() if name.startswith(of_conftest) or not name.startswith(ours)
    }
    own = {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(SOURCE), "XLA_FLAGS": QUICK_COMPILATION}
    return kept | own


def _tail(path: Path) -> str:
    return path.read_text(errors="replace")[-OUTPUT_SHOWN:] if path.exists() else "(no output)"
