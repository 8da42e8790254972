"""Jobs of real processes: started together, ended together, with a deadline."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"


@dataclass
class Worker:
    """One process of a job, and the file that its output goes to."""

    process: subprocess.Popen[bytes]
    log: Path

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, text: str, seconds: float = 90) -> None:
        """Waits until the output holds ``text``."""
        deadline = time.monotonic() + seconds
        while text not in self.output():
            assert self.process.poll() is None, f"ended before {text!r}:\n{self.output()}"
            assert time.monotonic() < deadline, f"no {text!r} within {seconds} s:\n{self.output()}"
            time.sleep(0.05)


@contextlib.contextmanager
def job(
    folder: Path,
    script: str,
    arguments: Sequence[str] = (),
    *,
    workers: int,
    devices: int = 1,
    environment: dict[str, str] | None = None,
    absent: Sequence[int] = (),
    arguments_of: Sequence[Sequence[str]] | None = None,
    variables: Callable[[int, int], dict[str, str]] | None = None,
) -> Iterator[list[Worker]]:
    """Starts ``workers`` processes with a TF_CONFIG written by hand, as tutorials do; kills what is left at the end.

    ``arguments_of``: the arguments of each process, if they differ. Instead of TF_CONFIG, ``variables`` may describe
    the cluster to a worker, from its rank and a free port.
    """
    ports = free_ports(workers)
    addresses = [f"127.0.0.1:{port}" for port in ports]
    started = []
    try:
        for index in range(workers):
            if index in absent:
                continue
            task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
            environ = os.environ | {
                **(variables(index, ports[0]) if variables else {"TF_CONFIG": json.dumps(task)}),
                "UNISONO_CPU_DEVICES": str(devices),
                "JAX_PLATFORMS": "cpu",
                "TF_CPP_MIN_LOG_LEVEL": "2",
                **(environment or {}),
            }
            log = folder / f"worker-{index}.log"
            with log.open("wb") as output:
                process = subprocess.Popen(
                    [
                        sys.executable,
                        "-u",
                        str(SCRIPTS / script),
                        *(arguments_of[index] if arguments_of else arguments),
                    ],
                    env=environ,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            started.append(Worker(process, log))
        yield started
    finally:
        for worker in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(worker.process.pid, signal.SIGKILL)
            worker.process.wait()


def finish(workers: Sequence[Worker], seconds: float) -> list[int]:
    """Waits until all have ended; their exit codes."""
    deadline = time.monotonic() + seconds
    codes = []
    for worker in workers:
        try:
            codes.append(worker.process.wait(max(deadline - time.monotonic(), 0.1)))
        except subprocess.TimeoutExpired:
            logs = "\n".join(f"{each.log.name}:\n{each.output()}" for each in workers)
            raise AssertionError(f"{worker.log.name} is still running after {seconds} s.\n{logs}") from None
    return codes


def free_ports(number: int) -> list[int]:
    """Free ports of this machine."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def listening_ports(pid: int) -> list[int]:
    """The ports of 127.0.0.1 at which a process listens, from /proc."""
    inodes = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(entry)
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    ports = []
    for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in inodes:
            ports.append(int(fields[1].split(":")[1], 16))
    return ports
