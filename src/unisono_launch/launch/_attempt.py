"""One attempt: all workers of this machine, from their start until nothing of them is left."""

from __future__ import annotations

import contextlib
import queue
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from unisono_launch.cluster import is_srun_task, seconds_until_kill
from unisono_launch.launch._context import LauncherContext
from unisono_launch.launch._diagnosis import WorkerOutcome
from unisono_launch.launch._environment import worker_environment
from unisono_launch.launch._events import STOP_SIGNALS, EndingReason, Events, SignalReceived, ThreadCrashed
from unisono_launch.launch._options import UsageError
from unisono_launch.launch._output import WorkerOutput
from unisono_launch.launch._plan import AttemptPlan
from unisono_launch.launch._supervisor import Supervisor
from unisono_launch.launch.workers import Worker, WorkerStarter

_LEFTOVER_GRACE: Final = 2.0  # from SIGTERM to SIGKILL for what dead workers have left behind
_OWN_SIGNAL_SECONDS: Final = 1.0  # SLURM needs milliseconds from the first process of a step to the last
_RELEASE_SECONDS: Final = 1.0  # a worker that has not ended by now waits for a disk or a driver


@dataclass(frozen=True, kw_only=True)
class AttemptResult:
    """How an attempt ended."""

    outcomes: tuple[WorkerOutcome, ...]
    signal: signal.Signals | None
    """By which the launcher was asked to stop it."""
    began: float
    ended: float
    """When the last worker was gone. Both by `time.monotonic`."""
    reached: Mapping[str, int]
    """The highest step of each phase, as far as it was seen."""


def run_attempt(context: LauncherContext, plan: AttemptPlan, notify: Callable[[EndingReason], None]) -> AttemptResult:
    """Starts the workers, watches them, ends them together. However this returns, no process of it is left.

    `notify` is called as soon as the attempt is ending: the job may have other machines.
    """
    began = time.monotonic()
    events, starter = context.events, context.starter
    workers: list[Worker] = []
    output = WorkerOutput(
        context.screen, prefixed=plan.num_workers > 1, crashed=lambda error: events.put(ThreadCrashed(error))
    )
    supervisor = Supervisor(
        workers,
        plan,
        grace=context.options.grace,
        say=output.say,
        notify=notify,
        time_left=lambda: _ask_scheduler(context.environ),
    )
    with _nothing_left(workers, supervisor, output, starter):
        _prepare_log_folder(plan)
        for rank in plan.ranks:
            environment = worker_environment(plan, rank, context.environ)
            workers.append(starter.start(rank, context.options.program, environment, events))
            output.add(rank, *workers[-1].output_streams, plan.log_file(rank))
        output.start()
        supervisor.advance()
        while not supervisor.is_over:
            with contextlib.suppress(queue.Empty):
                event = events.get(timeout=supervisor.timeout)
                if isinstance(event, SignalReceived) and event.number in (signal.SIGTERM, signal.SIGHUP):
                    # Workers that wait to be read could not save, and nobody may be there who reads, or resumes.
                    context.screen.stop_waiting()
                supervisor.handle(event)
            supervisor.advance()
        _await_own_signal(supervisor, workers, events)
    ended = time.monotonic()
    _show_remaining_output(output, supervisor, context)
    return AttemptResult(
        outcomes=tuple(supervisor.outcome(worker, output.errors(worker.rank)) for worker in workers),
        signal=supervisor.signal,
        began=began,
        ended=ended,
        reached=dict(supervisor.reached),
    )


def _prepare_log_folder(plan: AttemptPlan) -> None:
    """Creates the files before any worker starts; raises :class:`UsageError` if that is not allowed."""
    try:
        plan.log_folder.mkdir(parents=True, exist_ok=True)
        for rank in plan.ranks:
            plan.status_file(rank).unlink(missing_ok=True)
            plan.log_file(rank).open("ab").close()
    except OSError as error:
        raise UsageError(
            f"The logs of the workers cannot be written: {error}. Name another folder of the run: --run-dir DIR"
        ) from None


def _await_own_signal(supervisor: Supervisor, workers: Sequence[Worker], events: Events) -> None:
    """Schedulers signal every process of a job: a worker can have died of SIGTERM before this launcher has got its own.

    Without its own, it would report a killed worker (69) instead of a job that was asked to end (143).
    """
    deadline = time.monotonic() + _OWN_SIGNAL_SECONDS
    while (
        supervisor.signal is None
        and any(worker.exit is not None and worker.exit.code == -signal.SIGTERM for worker in workers)
        and (left := deadline - time.monotonic()) > 0
    ):
        with contextlib.suppress(queue.Empty):
            supervisor.handle(events.get(timeout=left))


def _ask_scheduler(environ: Mapping[str, str]) -> float | None:
    """How long after SIGTERM the scheduler waits; None if there is none, or it does not say."""
    return seconds_until_kill(environ["SLURM_JOB_ID"]) if is_srun_task(environ) else None


@contextlib.contextmanager
def _nothing_left(
    workers: Sequence[Worker], supervisor: Supervisor, output: WorkerOutput, starter: WorkerStarter
) -> Iterator[None]:
    """However the block ends, nothing that was started in it is left."""
    try:
        yield
    except BaseException:
        supervisor.kill()
        raise
    finally:
        starter.end_leftovers(workers, 0.0 if supervisor.has_killed else _LEFTOVER_GRACE)
        for worker in workers:
            if not worker.release(_RELEASE_SECONDS):
                output.say(
                    f"unisono: worker {worker.rank} ({worker.name}) does not die of SIGKILL: it waits for "
                    "a disk, a network or a driver. It will die when that answers."
                )


def _show_remaining_output(output: WorkerOutput, supervisor: Supervisor, context: LauncherContext) -> None:
    """Waits until the screen has room for the last lines; Ctrl-C ends the waiting for the whole job."""
    output.finish()
    while not output.join(0.05):
        with contextlib.suppress(queue.Empty):
            event = context.events.get_nowait()
            asks_to_stop = isinstance(event, SignalReceived) and event.number in STOP_SIGNALS
            if asks_to_stop:
                context.screen.stop_waiting()
            supervisor.handle(event)
            if asks_to_stop and not output.join(_RELEASE_SECONDS):  # another screen, or a disk that takes no logs
                return
    output.close()
