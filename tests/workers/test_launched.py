"""Jobs under `unisono run`: the worker that failed is named, with its last step, and no process is left running."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.workers._job import SCRIPTS, Worker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

CASES = [
    pytest.param(
        1, "SIGKILL", 69, r"worker 1 on \S+ was killed by SIGKILL at step \d+ \(fit\)", 10.0, id="kill-worker-1"
    ),
    pytest.param(
        0, "SIGKILL", 69, r"worker 0 on \S+ was killed by SIGKILL at step \d+ \(fit\)", 10.0, id="kill-worker-0"
    ),
    pytest.param(
        1, "SIGSTOP", 124, r"worker 1 on \S+ was stopped \(SIGSTOP\)", 30.0, id="stop-worker-1", marks=pytest.mark.full
    ),
    pytest.param(
        1, "exception", 1, r"(?s)worker 1 on \S+ failed with exit code 1.*ZeroDivisionError", 10.0, id="exception"
    ),
]


@pytest.mark.parametrize(("victim", "failure", "code", "report", "limit"), CASES)
def test_the_launcher_names_the_worker_that_failed(
    tmp_path: Path, victim: int, failure: str, code: int, report: str, limit: float
) -> None:
    launcher = _launched(tmp_path, "failing.py", ["step", str(victim), failure], workers=2)
    try:
        launcher.wait_for(f"[worker {victim}] reached step")
        began = time.monotonic()
        if failure != "exception":
            os.kill(_pid_of(victim, launcher.process.pid), getattr(signal, failure))
        found = launcher.process.wait(60)
        took = time.monotonic() - began
        output = launcher.output()
        assert took < limit, f"{took:.1f} s\n{output}"
        assert found == code, output
        assert re.search(report, output), output
        assert "reached step" in (tmp_path / "run" / "logs" / "attempt-0" / f"worker-{victim}.log").read_text()
    finally:
        launcher.process.kill()
        launcher.process.wait()


@pytest.mark.full
def test_a_job_that_ends_well_ends_with_zero(tmp_path: Path) -> None:
    launcher = _launched(tmp_path, "early.py", [], workers=2)
    assert launcher.process.wait(120) == 0, launcher.output()


def _launched(folder: Path, script: str, arguments: list[str], *, workers: int) -> Worker:
    log = folder / "launcher.log"
    command = [sys.executable, "-m", "unisono_launch", "run", "-n", str(workers), "--devices", "cpu:1"]
    command += ["--run-dir", str(folder / "run"), str(SCRIPTS / script), *arguments]
    variables = {name: value for name, value in os.environ.items() if name not in ("UNISONO_CPU_DEVICES", "NPROC")}
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=variables, stdout=output, stderr=subprocess.STDOUT)
    return Worker(process, log)


def _pid_of(rank: int, launcher: int) -> int:
    """The process of this launcher's job that is worker ``rank``."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if parent == launcher and f"RANK={rank}".encode() in environment:
            return int(entry.name)
    raise AssertionError(f"no worker {rank} of launcher {launcher}")
