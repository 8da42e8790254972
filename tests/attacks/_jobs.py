"""A job of two launchers with a worker each, of which all ports are attacked while it waits and while it trains."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from tests.attacks._attacks import Attack, Attackers
from tests.workers._job import listening_ports
from unisono_launch.launch._ports import hold_free_ports, launcher_port
from unisono_launch.launch._protocol import VERSION

SCRIPT: Final = Path(__file__).parent / "scripts" / "train.py"
SECRET: Final = "known to both launchers"
DEADLINE: Final = 150.0

LAUNCHER_HELLO: Final = {
    "type": "hello",
    "version": VERSION,
    "node": 1,
    "host": "elsewhere",
    "nnodes": "1:2",
    "workers": 1,
}
WORKER_HELLO: Final = {
    "type": "hello",
    "version": 2,
    "index": 1,
    "alike": {"JAX": "0.10.2", "Keras": "3.15.1", "the number of workers": 2},
}


@dataclass
class Ending:
    """How a job ended.

    Attributes:
        codes: exit codes of the launchers.
        seconds: from the start of the first launcher, without those in which the test let it wait.
        connections: hostile ones, by the port and what the job did.
    """

    codes: list[int]
    seconds: float
    connections: dict[str, int]


def run(folder: Path, attack: Attack | None, *, connections: int) -> Ending:
    """Runs the job to its end. Each phase lasts until ``connections`` hostile ones were made to each port."""
    with hold_free_ports(1) as (port,):
        pass
    made: dict[str, int] = {}
    waited = 0.0

    def attacked(name: str, attackers: Attackers | None) -> None:
        nonlocal waited
        if attackers is not None:
            began, before = time.monotonic(), attackers.count
            attackers.wait_for(connections, DEADLINE)
            waited += time.monotonic() - began
            made[name] = attackers.count - before

    with contextlib.ExitStack() as stack:
        began = time.monotonic()

        def attack_port(number: int, hello: dict[str, Any]) -> Attackers | None:
            if attack is None:
                return None
            return stack.enter_context(Attackers(("127.0.0.1", number), attack, hello, SECRET))

        first = stack.enter_context(_launcher(folder, 0, port))
        at_launchers = attack_port(launcher_port(port), LAUNCHER_HELLO)
        attacked("launchers, while one waits", at_launchers)
        second = stack.enter_context(_launcher(folder, 1, port))
        wait_until((folder / "port-0").exists, folder, "worker 0")
        at_workers = attack_port(int((folder / "port-0").read_text()), WORKER_HELLO)
        attacked("workers, while worker 0 waits", at_workers)
        (folder / "connect").touch()
        wait_until((folder / "trained-1").exists, folder, "training")
        attacked("launchers, in training", at_launchers)
        attacked("JAX's coordinator, in training", at_workers)
        for rank in (0, 1):
            (gloo,) = listening_ports(int((folder / f"pid-{rank}").read_text())) if attack else (0,)
            at_gloo = attack_port(gloo, WORKER_HELLO)
            attacked(f"gloo of worker {rank}, in training", at_gloo)
            if at_gloo is not None:
                at_gloo.stop()  # it never closes a connection: without an end its process has no descriptors left
        (folder / "finish").touch()
        codes = [process.wait(DEADLINE) for process in (first, second)]
        return Ending(codes, time.monotonic() - began - waited, made)


def result_of(folder: Path) -> dict[str, bytes]:
    """Equal if every bit is."""
    with np.load(folder / "result.npz") as arrays:
        return {name: array.tobytes() for name, array in arrays.items()}


def said(folder: Path) -> str:
    """The output of the processes of a job."""
    return "\n".join(f"{path.name}:\n{path.read_text(errors='replace')}" for path in sorted(folder.glob("*.log")))


@contextlib.contextmanager
def _launcher(folder: Path, node: int, port: int) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "unisono_launch", "run", "--nnodes", "1:2", "--node-rank", str(node)]
    command += ["--master-addr", "127.0.0.1", "--master-port", str(port), "--run-dir", str(folder / "run")]
    command += ["--join-window", "100", "--devices", "cpu:1", str(SCRIPT)]
    ours = ("UNISONO_CPU_DEVICES", "TF_CONFIG", "NPROC")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    environment |= {"UNISONO_JOB_SECRET": SECRET, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "2"}
    with open(folder / f"launcher-{node}.log", "wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)  # it ends its workers
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()
        process.wait()


def wait_until(condition: Callable[[], bool], folder: Path, what: str) -> None:
    """Fails if the condition is not true in time, with what the job said."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"waited {DEADLINE} s for {what}:\n{said(folder)}"
        time.sleep(0.02)
