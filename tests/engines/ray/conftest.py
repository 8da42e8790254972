"""A Ray cluster of several simulated nodes, and drivers of it: scripts in processes of their own, as users run them."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parent / "scripts"

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_TRAIN_ENABLE_PRINT_PATCH": "0",  # else every line that a worker prints comes twice
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if importlib.util.find_spec("ray") is None:
        for item in items:
            if item.path.is_relative_to(Path(__file__).parent):
                item.add_marker(pytest.mark.skip(reason="Ray is not installed"))


@dataclass
class Driver:
    """A script that uses the cluster, and the file that its output goes to."""

    process: subprocess.Popen[bytes]
    log: Path

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, text: str, seconds: float = 180) -> None:
        """Waits until the output holds ``text``."""
        deadline = time.monotonic() + seconds
        while text not in self.output():
            assert self.process.poll() is None, f"ended before {text!r}:\n{self.output()}"
            assert time.monotonic() < deadline, f"no {text!r} within {seconds} s:\n{self.output()}"
            time.sleep(0.1)

    def finish(self, seconds: float = 240) -> int:
        """Waits for the end; returns the exit code."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            pytest.fail(f"still running after {seconds} s:\n{self.output()}")


@dataclass
class RayCluster:
    """Nodes that are processes of this machine: a head without CPUs, and others that run workers."""

    process: subprocess.Popen[str]
    address: str = ""
    nodes: list[str] = field(default_factory=list)
    """The IDs of the nodes that run workers."""

    def add_node(self, num_gpus: int = 0) -> str:
        """Ray believes in the GPUs; there are none."""
        self.nodes.append(self._command({"gpus": num_gpus}))
        return self.nodes[-1]

    def kill_node(self, node: str) -> None:
        """The node is gone at once, with all its processes."""
        self.nodes.remove(node)
        self._command({"remove": node})

    def drain_node(self, node: str, deadline_seconds: int = 30) -> None:
        """Announces that the node is going to be preempted, as a cloud does by Ray's autoscaler."""
        arguments = ["--node-id", node, "--reason", "DRAIN_NODE_REASON_PREEMPTION", "--reason-message", "spot"]
        deadline = ["--deadline-remaining-seconds", str(deadline_seconds)]
        command = [sys.executable, "-m", "ray.scripts.scripts", "drain-node", "--address", self.address]
        subprocess.run([*command, *arguments, *deadline], check=True, timeout=60, env=self.environment())

    def environment(self) -> dict[str, str]:
        """Of processes that use the cluster."""
        return os.environ | _ENVIRONMENT | {"RAY_ADDRESS": self.address}

    def _command(self, command: Any) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self.read_answer()

    def read_answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the cluster has ended"
        return json.loads(line)


@pytest.fixture(scope="session")
def ray_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """One cluster of two nodes for all tests. A test that takes a node away adds another one."""
    # Its processes outlive a test, so they are not marked as those of the test that happens to start them. And users do
    # not tell Ray's nodes which backend Keras is to use.
    left_out = ("UNISONO_TEST_RUN", "KERAS_BACKEND")
    environment = {name: value for name, value in os.environ.items() if name not in left_out} | _ENVIRONMENT
    log = tmp_path_factory.mktemp("ray") / "cluster.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "_cluster_process.py"), "2", "3"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            text=True,
            start_new_session=True,
        )
    cluster = RayCluster(process)
    try:
        started = cluster.read_answer()
        cluster.address, cluster.nodes = started["address"], started["nodes"]
        yield cluster
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        assert process.stdout is not None
        process.stdout.close()


class StartDriver:
    """Starts scripts with the cluster as RAY_ADDRESS."""

    def __init__(self, cluster: RayCluster, folder: Path) -> None:
        self._cluster, self._folder = cluster, folder
        self.started: list[Driver] = []

    def __call__(
        self, command: str | Sequence[str], *arguments: object, environment: Mapping[str, str] | None = None
    ) -> Driver:
        """``command``: a script of this folder's scripts, or a whole command line."""
        words = [sys.executable, "-u", str(SCRIPTS / command)] if isinstance(command, str) else list(command)
        log = self._folder / f"driver-{len(self.started)}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*words, *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._cluster.environment() | dict(environment or {}),
                cwd=self._folder,
            )
        self.started.append(Driver(process, log))
        return self.started[-1]


@pytest.fixture
def start_driver(ray_cluster: RayCluster, tmp_path: Path) -> Iterator[StartDriver]:
    """Starts drivers, and kills those that are still running when the test ends."""
    start = StartDriver(ray_cluster, tmp_path)
    yield start
    for driver in start.started:
        if driver.process.poll() is None:
            driver.process.kill()
            driver.process.wait()
