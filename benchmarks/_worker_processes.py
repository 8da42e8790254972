"""A contender that is several worker processes: the first talks to the benchmark, starts the others and leads them.

Between rounds none of them is in a collective, where it might spin: the first waits for a line on stdin, the others for
a message on a pipe from the first. All are in the process group that the benchmark kills in the end. Should there be
nobody left to do that, a worker that waits sees its pipe end, and one that trains has a deadline.
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
_LATER = 10  # seconds; so that the benchmark's own limit comes first, and says more


def serve_workers(contender: Callable[[Workload], Train]) -> None:
    """Runs a contender that is several workers; the workload is the process's one argument.

    Args:
        contender: called in every worker, which finds its cluster in the variables of TensorFlow and of torchrun. A
            function of the main module, since the other workers import it by its name.
    """
    with _all_of_a_process():
        serve(lambda workload: _first_worker(contender, workload))


def _first_worker(contender: Callable[[Workload], Train], workload: Workload) -> Train:
    first, *rest = _variables_of_workers(workload.workers)
    others = [_start(contender, workload, variables) for variables in rest]
    threading.Thread(target=_end_with, args=([process for process, _ in others],), daemon=True).start()
    os.environ.update(first)
    with _deadline(BUILD_SECONDS):
        train = contender(workload)
        for _, pipe in others:
            pipe.recv()

    def round_of_all() -> tuple[float, float]:
        with _deadline(ROUND_SECONDS):
            for _, pipe in others:
                pipe.send("round")
            found = train()
            for _, pipe in others:
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
    """A process that imports everything anew, and has the variables from its beginning."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_other_worker, args=(contender, workload, there))
    os.environ.update(variables)
    process.start()
    there.close()
    return process, here


def _variables_of_workers(workers: int) -> list[dict[str, str]]:
    """What tells each worker of the others: `TF_CONFIG`, and what torchrun sets."""
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


def _end_with(others: list[BaseProcess]) -> None:
    """Ends this process when one of the others has ended: what it waits for in a collective will not come."""
    wait([process.sentinel for process in others])
    print("Another worker has ended.", file=sys.stderr, flush=True)
    os._exit(1)


@contextlib.contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Past it, the process is killed, wherever it is: nobody handles the signal."""
    signal.alarm(int(seconds) + _LATER)
    yield
    signal.alarm(0)


@contextlib.contextmanager
def _all_of_a_process() -> Iterator[None]:
    """Ends the process with its block, without exit handlers: some of them wait for the other workers."""
    code = 1
    try:
        yield
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
