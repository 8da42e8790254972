"""One attempt: all workers of this machine, from their start until nothing of them is left."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from unisono_launch.launch._environment import Layout, worker_environment
from unisono_launch.launch._events import ENDING, Crashed, Events, How, Signalled
from unisono_launch.launch._guard import kill, leftovers
from unisono_launch.launch._guarding import Guard
from unisono_launch.launch._output import Output
from unisono_launch.launch._screen import Screen
from unisono_launch.launch._supervisor import Supervisor
from unisono_launch.launch._verdict import Account
from unisono_launch.launch._worker import Worker

_LEAVING: Final = 2.0  # from SIGTERM to SIGKILL for what dead workers have left behind
_REAPING: Final = 1.0  # a worker that is not dead by now waits for a disk or a driver


@dataclass(frozen=True, kw_only=True)
class Result:
    """How an attempt ended."""

    accounts: tuple[Account, ...]
    signal: signal.Signals | None
    """By which the launcher was asked to end it."""
    began: float
    ended: float
    """When the last worker was gone. Both by `time.monotonic`."""
    reached: Mapping[str, int]
    """The highest step of each phase, as far as it was seen."""


def run_attempt(
    layout: Layout,
    program: Sequence[str],
    environ: Mapping[str, str],
    *,
    grace: float,
    events: Events,
    screen: Screen,
    guard: Guard,
    notify: Callable[[How], None],
) -> Result:
    """Starts the workers, watches them, ends them together. However this returns, no process of it is left.

    `notify` is called as soon as the attempt is ending: the job may have other machines.
    """
    began = time.monotonic()
    workers: list[Worker] = []
    output = Output(screen, prefixed=layout.num_workers > 1, crashed=lambda error: events.put(Crashed(error)))
    supervisor = Supervisor(workers, layout, grace=grace, say=output.say, notify=notify)
    with _nothing_left(workers, supervisor, output, layout.job, guard):
        _start(workers, layout, program, environ, events, output, guard)
        supervisor.advance()
        while not supervisor.over:
            with contextlib.suppress(queue.Empty):
                supervisor.handle(events.get(timeout=supervisor.patience))
            supervisor.advance()
    ended = time.monotonic()
    _show_the_rest(output, supervisor, events)
    accounts = tuple(supervisor.account(worker, output.errors(worker.rank)) for worker in workers)
    return Result(
        accounts=accounts, signal=supervisor.signal, began=began, ended=ended, reached=dict(supervisor.reached)
    )


def _start(
    workers: list[Worker],
    layout: Layout,
    program: Sequence[str],
    environ: Mapping[str, str],
    events: Events,
    output: Output,
    guard: Guard,
) -> None:
    layout.logs.mkdir(parents=True, exist_ok=True)
    for rank in layout.ranks:
        layout.status(rank).unlink(missing_ok=True)
        worker = Worker(rank, program, worker_environment(layout, rank, environ), events)
        workers.append(worker)
        guard.watch(worker.session)
        output.add(rank, *worker.pipes, layout.log(rank))
    output.start()


@contextlib.contextmanager
def _nothing_left(
    workers: Sequence[Worker], supervisor: Supervisor, output: Output, job: str, guard: Guard
) -> Iterator[None]:
    """However the block ends, nothing that was started in it is left."""
    try:
        yield
    except BaseException:
        supervisor.kill()
        raise
    finally:
        _end_leftovers(job, [worker.session for worker in workers], 0.0 if supervisor.in_a_hurry else _LEAVING)
        for worker in workers:
            if worker.reap(_REAPING):
                guard.forget(worker.session)
            else:
                output.say(
                    f"unisono: worker {worker.rank} (process {worker.session}) does not die of SIGKILL: it waits for "
                    "a disk, a network or a driver. It will die when that answers."
                )


def _end_leftovers(job: str, sessions: Sequence[int], patience: float) -> None:
    """Ends what workers started and did not end themselves."""
    deadline = time.monotonic() + patience
    found = leftovers(job, sessions) if patience else set()
    for process in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGTERM)
    while found and time.monotonic() < deadline:
        time.sleep(0.02)
        found = leftovers(job, sessions)
    kill(job, sessions)


def _show_the_rest(output: Output, supervisor: Supervisor, events: Events) -> None:
    """Waits for the terminal to take the last lines; Ctrl-C ends the waiting."""
    output.finish()
    while not output.join(0.05):
        with contextlib.suppress(queue.Empty):
            event = events.get_nowait()
            supervisor.handle(event)
            if isinstance(event, Signalled) and event.number in ENDING:
                return
    output.close()
