"""The interface of workers: local processes keep it, and the launcher needs nothing else."""

import os
import queue
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO

import pytest

from unisono_launch.launch._arguments import parse
from unisono_launch.launch._attempt import run_attempt
from unisono_launch.launch._context import LauncherContext, discover
from unisono_launch.launch._diagnosis import find_cause
from unisono_launch.launch._events import Events, WorkerExited
from unisono_launch.launch.workers import LocalProcesses, Worker, WorkerExit, WorkerStarter

SECONDS = 20


@pytest.fixture
def engine():
    with LocalProcesses(dict(os.environ)) as engine:
        yield engine


@pytest.fixture
def start(engine):
    """Starts a worker that runs a line of Python; its end is the next event."""
    started: list[Worker] = []

    def start(code: str) -> tuple[Worker, Events]:
        events: Events = queue.SimpleQueue()
        started.append(engine.start(3, ["-c", code], {**os.environ, "NAME": "value"}, events))
        return started[-1], events

    yield start
    for worker in started:
        worker.kill()
        assert worker.release(SECONDS)
        for stream in worker.output_streams:
            stream.close()


def test_a_worker_has_its_environment_and_its_end_is_an_event(start) -> None:
    worker, events = start("import os, sys; print(os.environ['NAME']); sys.exit(7)")
    assert events.get(timeout=SECONDS) == WorkerExited(3)
    assert (worker.rank, worker.alive, worker.exited_on_request) == (3, False, False)
    assert worker.exit is not None
    assert worker.exit.code == 7
    assert worker.output_streams[0].read() == b"value\n"


def test_a_signal_that_ends_a_worker_is_its_exit_code(start) -> None:
    worker, events = start("import time; print('ready', flush=True); time.sleep(60)")
    assert worker.output_streams[0].readline() == b"ready\n"
    assert worker.alive
    worker.request_stop(signal.SIGTERM)
    events.get(timeout=SECONDS)
    assert worker.exit is not None
    assert worker.exit.code == -signal.SIGTERM
    assert worker.exited_on_request


def test_a_suspended_worker_is_seen_and_can_be_killed(start) -> None:
    worker, events = start("import time; print('ready', flush=True); time.sleep(60)")
    worker.output_streams[0].readline()
    worker.send_signal(signal.SIGSTOP)
    deadline = time.monotonic() + SECONDS
    while not worker.is_suspended():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert not worker.release(0.0)
    worker.kill()
    events.get(timeout=SECONDS)
    assert worker.exit is not None
    assert worker.exit.code == -signal.SIGKILL


class ThreadWorker(Worker):
    """A worker that is no process: a thread that writes its rank, and fails as the last of three."""

    def __init__(self, rank: int, environment: Mapping[str, str], events: Events) -> None:
        super().__init__(rank)
        self._pipes = [os.pipe(), os.pipe()]
        self._events = events
        self._thread = threading.Thread(target=self._run, args=(environment["WORLD_SIZE"],))
        self._thread.start()

    name = "a thread"

    @property
    def output_streams(self) -> tuple[IO[bytes], IO[bytes]]:
        out, err = (os.fdopen(reader, "rb") for reader, _ in self._pipes)
        return out, err

    def is_suspended(self) -> bool:
        return False

    def send_signal(self, number: signal.Signals) -> None:
        pass

    def kill(self) -> None:
        pass

    def release(self, timeout: float) -> bool:
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self, size: str) -> None:
        os.write(self._pipes[0][1], f"{self.rank} of {size}\n".encode())
        for _, writer in self._pipes:
            os.close(writer)
        self.exit = WorkerExit(5 if self.rank == 2 else 0, time.monotonic())
        self._events.put(WorkerExited(self.rank))


class Threads(WorkerStarter):
    def __exit__(self, *exception: object) -> None:
        pass

    def start(self, rank: int, program: Sequence[str], environment: Mapping[str, str], events: Events) -> Worker:
        return ThreadWorker(rank, environment, events)

    def end_leftovers(self, workers: Sequence[Worker], grace: float) -> None:
        pass


def test_an_attempt_runs_with_any_starter(tmp_path, monkeypatch, capfdbinary) -> None:
    monkeypatch.chdir(tmp_path)
    found = discover(parse(["-n", "3", "--devices", "cpu:1", "-m", "anything"]), {})
    context = LauncherContext(**{**vars(found), "starter": Threads()})
    devices, num_workers = context.allocator.allocate()
    plan = context.plan(0, context.machines, devices, num_workers, (1, 2, 3))
    notified: list[str] = []
    result = run_attempt(context, plan, notified.append)
    context.screen.close(context.events)  # when all is shown
    assert sorted(capfdbinary.readouterr().out.splitlines()) == [b"[worker %d] %d of 3" % (i, i) for i in range(3)]
    assert [outcome.code for outcome in result.outcomes] == [0, 0, 5]
    cause = find_cause(result.outcomes)
    assert cause is not None
    assert (cause.rank, cause.what) == (2, "failed with exit code 5")
    assert plan.log_file(1).read_text() == "1 of 3\n"
