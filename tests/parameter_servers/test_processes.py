"""Jobs of real processes, in which workers are killed and started again, and at last a parameter server is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.parameter_servers._cluster import free_addresses
from unisono_launch.as_tensorflow import FOLDER

SCRIPTS = Path(__file__).parent / "scripts"
DEADLINE = 240


class Job:
    """The processes of a cluster; those that are killed are workers or parameter servers."""

    def __init__(self, folder: Path, script: str, **environment: str) -> None:
        addresses = free_addresses(5)
        self._cluster = {"chief": addresses[:1], "worker": addresses[1:3], "ps": addresses[3:]}
        self._folder, self._script, self._environment = folder, SCRIPTS / script, environment
        self._tasks: dict[str, subprocess.Popen[str]] = {}
        self._deadline = threading.Timer(DEADLINE, self.kill_all)
        self._deadline.start()

    def start(self, job: str, index: int) -> subprocess.Popen[str]:
        config = {"cluster": self._cluster, "task": {"type": job, "index": index}}
        environment = dict(os.environ, TF_CONFIG=json.dumps(config), UNISONO_JOB_SECRET="a secret of the test")
        environment |= {"UNISONO_CPU_DEVICES": "1"} | self._environment
        with open(self._folder / f"{job}-{index}.log", "a") as log:
            task = subprocess.Popen(
                [sys.executable, str(self._script)],
                cwd=self._folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if job == "chief" else log,
                stderr=log,
                text=True,
            )
        self._tasks[f"{job} {index}"] = task
        return task

    def start_all(self) -> subprocess.Popen[str]:
        """Starts all tasks. The chief is the last one."""
        for kind in ("worker", "ps"):
            for index in range(2):
                self.start(kind, index)
        return self.start("chief", 0)

    def kill(self, name: str) -> None:
        self._tasks[name].kill()
        self._tasks[name].wait()

    def kill_all(self) -> None:
        for task in self._tasks.values():
            task.kill()

    def close(self) -> None:
        self._deadline.cancel()
        self._deadline.join()
        self.kill_all()
        for task in self._tasks.values():
            task.wait()
            if task.stdout is not None:
                task.stdout.close()


@pytest.mark.full
@pytest.mark.timeout(DEADLINE + 30)
def test_training_survives_the_loss_of_workers_and_ends_with_that_of_a_server(tmp_path: Path) -> None:
    job = Job(tmp_path, "asynchronous.py", CHECKPOINTS=str(tmp_path / "checkpoints"))
    try:
        chief = job.start_all()
        assert chief.stdout is not None
        killed: list[str] = []
        report: dict[str, Any] = {}
        for line in chief.stdout:
            command, _, name = line.strip().partition(" ")
            if command == "KILL":
                job.kill(name)
                killed.append(name)
                if name == "worker 0":
                    job.start("worker", 0)
            elif line.startswith("{"):
                report = json.loads(line)
        log = (tmp_path / "chief-0.log").read_text()
        assert chief.wait(30) == 0, log
        assert killed == ["worker 0", "worker 1", "ps 1"]
        assert "Parameter server 1" in report["error"]
        assert "worker 0" in log
        assert "has connected again" in log
        assert list((tmp_path / "checkpoints").iterdir())
    finally:
        job.close()


@pytest.mark.full
@pytest.mark.timeout(DEADLINE + 30)
def test_a_script_in_the_shape_of_tensorflows_tutorial_survives_the_loss_of_workers(tmp_path: Path) -> None:
    job = Job(tmp_path, "tutorial.py", PYTHONPATH=str(FOLDER))
    try:
        chief = job.start_all()
        assert chief.stdout is not None
        printed = []
        for line in chief.stdout:
            printed.append(line.strip())
            if line.startswith("Epoch 3/6"):
                job.kill("worker 0")
                job.start("worker", 0)
            if line.startswith("Beginning epoch 2"):
                job.kill("worker 1")
        log = (tmp_path / "chief-0.log").read_text()
        assert chief.wait(30) == 0, log
        assert "worker 0 (" in log
        assert "worker 1 (" in log
        assert "Fit has run 600 steps" in printed
        assert "The loop has run 601 steps" in printed
        [accuracy] = [float(line.split()[-1]) for line in printed if line.startswith("Evaluation accuracy")]
        assert accuracy > 0.9
        assert list((tmp_path / "checkpoints").iterdir())
    finally:
        job.close()
