"""A job with parameter servers, of which the ports of all tasks are attacked while it waits and while it trains."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.attacks._attacks import Attack, Attackers
from tests.attacks._jobs import DEADLINE, SECRET, Ending, wait_until
from unisono._src.parameter_servers._channel import VERSION
from unisono_launch.launch._ports import hold_free_ports

SCRIPT: Final = Path(__file__).parent / "scripts" / "asynchronous.py"
TASK_HELLO: Final = {"type": "hello", "version": VERSION, "role": "chief", "job": "another one"}
_TASKS: Final = (("ps", 0), ("ps", 1), ("worker", 0))
_NAMES: Final = {("ps", 0): "parameter server", ("worker", 0): "worker"}
"""Those that are attacked. With every port, three threads compete with the job for its cores."""


def run(folder: Path, attack: Attack | None, *, connections: int) -> Ending:
    """Runs the job to its end. Each phase lasts until ``connections`` hostile ones were made to each port."""
    with hold_free_ports(len(_TASKS) + 1) as ports:
        addresses = {task: ("127.0.0.1", port) for task, port in zip((*_TASKS, ("chief", 0)), ports, strict=True)}
    cluster: dict[str, list[str]] = {}
    for (job, _), (host, port) in addresses.items():
        cluster.setdefault(job, []).append(f"{host}:{port}")
    made: dict[str, int] = {}
    waited = 0.0
    with contextlib.ExitStack() as stack:
        began = time.monotonic()
        for job, index in _TASKS:
            stack.enter_context(_task(folder, cluster, job, index))
        chief = stack.enter_context(_task(folder, cluster, "chief", 0))
        wait_until((folder / "waiting").exists, folder, "the chief")
        for task in _TASKS:
            wait_until(lambda task=task: _listens(addresses[task]), folder, f"{task}")
        attackers = {}
        if attack is not None:
            for task, name in _NAMES.items():
                attackers[name] = stack.enter_context(Attackers(addresses[task], attack, TASK_HELLO, SECRET))

        def attacked(phase: str) -> None:
            nonlocal waited
            for name, those in attackers.items():
                start, before = time.monotonic(), those.count
                those.wait_for(connections, DEADLINE)
                waited += time.monotonic() - start
                made[f"{name}, {phase}"] = those.count - before

        attacked("while it waits")
        (folder / "connect").touch()
        wait_until((folder / "trained").exists, folder, "training")
        attacked("in training")
        (folder / "finish").touch()
        code = chief.wait(DEADLINE)
        return Ending([code], time.monotonic() - began - waited, made)


@contextlib.contextmanager
def _task(folder: Path, cluster: dict[str, list[str]], job: str, index: int) -> Iterator[subprocess.Popen[bytes]]:
    config = {"cluster": cluster, "task": {"type": job, "index": index}}
    environment = dict(os.environ, TF_CONFIG=json.dumps(config), UNISONO_JOB_SECRET=SECRET, UNISONO_CPU_DEVICES="1")
    with open(folder / f"{job}-{index}.log", "wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _listens(address: tuple[str, int]) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(address, timeout=1):
        return True
    return False
