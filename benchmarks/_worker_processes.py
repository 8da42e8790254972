"""A contender of several worker processes: the first one talks to the benchmark, starts the rest and controls them.

Between rounds no worker is in a collective, where it might spin: the first waits for a line on stdin, the rest for a
message on a pipe from the first. All are in the process group that the benchmark kills in the end. If the benchmark has
died, a waiting worker sees its pipe close, and a training one has a deadline.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from _cases import Workload
from _contender import BUILD_SECONDS, ROUND_SECONDS
from _protocol import Train, serve

_HOST = "127.0.0.1"
_LATER = 10  # seconds; the benchmark's own limit comes first and has a better message


def serve_workers(contender: Callable[[Workload], Train]) -> None:
    """Runs a contender of several workers; the workload is the only argument of the process.

    Args:
        contender: called in every worker, which finds its cluster in the variables of TensorFlow and of torchrun. A
            function of the main module, since the other workers import it by its name.
    """
    with _all_of_a_process():
        serve(lambda workload: _first_worker(contender, workload))


def _first_worker(contender: Callable[[Workload], Train], workload: Workload) -> Train:
    first, *rest = _variables_of_workers(workload.workers)
    peers = [_start(contender, workload, variables) for variables in rest]
    threading.Thread(target=_end_with, args=([process for process, _ in peers],), daemon=True).start()
    os.environ.update(first)
    with _deadline(BUILD_SECONDS):
        train = contender(workload)
        for _, pipe in peers:
            pipe.recv()

    def round_of_all() -> tuple[float, float]:
        with _deadline(ROUND_SECONDS):
            for _, pipe in peers:
                pipe.send("round")
            found = train()
            for _, pipe in peers:
                pipe.recv()
        return found

    return round_of_all


def _other_worker(contender: Callable[[Workload], Train], workload: Workload, pipe: Connection) -> None:
    with _all_of_a_process(), contextlib.suppress(EOFError, BrokenPipeError):  # the first worker has ended
        with _deadline(BUILD_SECONDS):
            train = contender(workload)
        pipe.send("ready")
        while pipe.recv():
            with _deadline(ROUND_SECONDS):
                train()
            pipe.send("done")


def _start(
    contender: Callable[[Workload], Train], workload: Workload, variables: dict[str, str]
) -> tuple[BaseProcess, Connection]:
    """Starts a process that imports everything itself and has the variables from the beginning."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_other_worker, args=(contender, workload, there))
    os.environ.update(variables)
    process.start()
    there.close()
    return process, here


def _variables_of_workers(workers: int) -> list[dict[str, str]]:
    """The cluster for each worker: `TF_CONFIG`, and torchrun's variables."""
    ports = _free_ports(workers)
    cluster = {"worker": [f"{_HOST}:{port}" for port in ports]}
    return [
        {
            "TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}}),
            "MASTER_ADDR": _HOST,
            "MASTER_PORT": str(ports[0]),
            "RANK": str(index),
            "LOCAL_RANK": str(index),
            "WORLD_SIZE": str(workers),
        }
        for index in range(workers)
    ]


def _free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind((_HOST, 0))
        return [one.getsockname()[1] for one in sockets]


def _end_with(peers: list[BaseProcess]) -> None:
    """Ends this process when a peer has ended, because a collective would never return."""
    wait([process.sentinel for process in peers])
    print("Another worker has ended.", file=sys.stderr, flush=True)
    os._exit(1)


@contextlib.contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Kills the process when it is exceeded: the signal has no handler."""
    signal.alarm(int(seconds) + _LATER)
    yield
    signal.alarm(0)


@contextlib.contextmanager
def _all_of_a_process() -> Iterator[None]:
    """Ends the process after the block, without exit handlers: some of them wait for the other workers."""
    code = 1
    try:
        yield
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
