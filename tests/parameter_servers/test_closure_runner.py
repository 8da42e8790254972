"""The worker of a job, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import keras
import pytest

import unisono
from tests.parameter_servers._cluster import free_addresses
from unisono._src.parameter_servers import ClusterCoordinator, ParameterServerStrategy, Server
from unisono_launch.cluster import ClusterSpec, SimpleClusterResolver

SERVE = "import sys, unisono; unisono.parameter_servers.Server(eval(sys.argv[1]), sys.argv[2], int(sys.argv[3])).join()"


@contextmanager
def _task(spec: ClusterSpec, job: str, index: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(spec.as_dict()), job, str(index)],
        env=dict(os.environ, UNISONO_CPU_DEVICES="1"),
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("ending", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.full)])
def test_a_worker_ends_while_it_reads_from_a_server_that_is_stopped(ending: signal.Signals) -> None:
    addresses = free_addresses(3)
    spec = ClusterSpec({"worker": addresses[:1], "ps": addresses[1:]})
    with ExitStack() as stack:
        worker, stopped = (stack.enter_context(_task(spec, *task)) for task in (("worker", 0), ("ps", 1)))
        stack.callback(Server(spec, "ps", 0).stop)
        strategy = ParameterServerStrategy(SimpleClusterResolver(spec))
        stack.callback(strategy.close)
        coordinator = ClusterCoordinator(strategy)
        with strategy.scope():
            one, two = keras.Variable(1.0), keras.Variable(2.0)
        total = unisono.function(lambda: one + two)
        assert float(coordinator.schedule(total).fetch()) == 3.0
        stopped.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, stopped.pid, os.WSTOPPED)  # else it may still answer
        value = coordinator.schedule(total)
        time.sleep(1)
        assert not coordinator.done(), value
        worker.send_signal(ending)
        assert worker.wait(20) != 0
