"""A launcher to be tested: real processes, which run small scripts of the standard library."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

DEADLINE = 30.0

# What every script may use: its rank, and peers that suffer when one of them dies, as JAX's do.
PRELUDE = """
import os, signal, socket, subprocess, sys, threading, time
from pathlib import Path
rank, size, attempt = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "UNISONO_ATTEMPT"))

def until(*files):
    "Waits for files that peers make."
    deadline = time.monotonic() + 30
    while not all(Path(file).exists() for file in files):
        assert time.monotonic() < deadline, f"{files} did not appear"
        time.sleep(0.01)

def suffer_with(culprit):
    "The culprit listens; its peers hang on a connection to it, and fail when it closes."
    address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    if rank == culprit:
        server = socket.create_server(address)
        return [server.accept()[0] for _ in range(size - 1)] + [server]
    while True:
        try:
            connection = socket.create_connection(address)
            break
        except ConnectionRefusedError:
            time.sleep(0.01)
    connection.recv(1)
    time.sleep(0.1)
    raise RuntimeError("UNKNOWN: Gloo all-reduce failed: Connection closed by peer [127.0.0.1]:29617")
"""


class Launcher:
    """A running `unisono run`."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.process = process
        self.folder = folder
        self._read = b""  # of standard error, before its end

    def wait_for(self, *files: str) -> None:
        """Waits until the scripts have made these files."""
        deadline = time.monotonic() + DEADLINE
        while missing := [name for name in files if not (self.folder / name).exists()]:
            assert time.monotonic() < deadline, f"{missing} did not appear"
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.01)

    def wait_for_port(self, port: int) -> None:
        """Waits until something listens at this port of the loopback interface."""
        deadline = time.monotonic() + DEADLINE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                assert time.monotonic() < deadline, f"nothing listens at {port}"
                time.sleep(0.01)

    def wait_for_text(self, text: str) -> None:
        """Waits until the launcher has written this to standard error."""
        assert self.process.stderr is not None
        os.set_blocking(self.process.stderr.fileno(), False)
        deadline = time.monotonic() + DEADLINE
        while text.encode() not in self._read:
            self._read += self.process.stderr.read() or b""
            assert time.monotonic() < deadline, self._read
            time.sleep(0.01)
        os.set_blocking(self.process.stderr.fileno(), True)

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def finish(self) -> tuple[int, str, str]:
        """Exit code, standard output and standard error."""
        out, err = self.process.communicate(timeout=DEADLINE)
        return self.process.returncode, out.decode(errors="replace"), (self._read + err).decode(errors="replace")


Start = Callable[..., Launcher]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `unisono run FLAGS script.py ARGS` in an empty folder, with the given script."""
    running: list[subprocess.Popen[bytes]] = []

    def start(script: str, *flags: str, args: tuple[str, ...] = (), env: dict[str, str] | None = None) -> Launcher:
        text = PRELUDE + textwrap.dedent(script)
        if not (tmp_path / "script.py").exists() or (tmp_path / "script.py").read_text() != text:
            (tmp_path / "script.py").write_text(text)  # not while a worker reads it
        process = subprocess.Popen(
            [sys.executable, "-m", "unisono_launch", "run", *flags, "script.py", *args],
            cwd=tmp_path,
            env=environment() | (env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        running.append(process)
        return Launcher(process, tmp_path)

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def run(start: Start) -> Run:
    """The same to its end: exit code, standard output, standard error."""

    def run(*args, **kwargs) -> tuple[int, str, str]:
        return start(*args, **kwargs).finish()

    return run


@pytest.fixture
def command(tmp_path: Path) -> Run:
    """The command `unisono` with the given words, in an empty folder."""

    def command(*words: str, env: dict[str, str] | None = None) -> tuple[int, str, str]:
        result = subprocess.run(
            [sys.executable, "-m", "unisono_launch", *words],
            cwd=tmp_path,
            env=environment() | (env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        return result.returncode, result.stdout, result.stderr

    return command


def environment() -> dict[str, str]:
    """This environment without what the tests of JAX need."""
    ours = ("UNISONO_CPU_DEVICES", "NPROC", "TF_CONFIG")
    return {name: value for name, value in os.environ.items() if name not in ours}
