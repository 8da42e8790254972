"""The decisions of one attempt: which worker has failed, and when its peers must end.

    running ──a worker fails──> settling ──1 s──> ending ──4 s──> killed
       ├──one leaves with 75──> leaving ──grace──> ending ──4 s──> killed
       └─────SIGINT, SIGTERM────────────────────> ending ──grace──> killed

Peers of a lost worker normally end while the attempt settles. Those of one that was preempted (code 75) are saving at
the same step, and leave by themselves if they are given time; when one of them fails meanwhile, it is a failure like
any other. A worker that ends with code 0 is no failure, early or not. What happens on other machines of the job
(`EndingElsewhere`) counts as if it happened here.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final, Literal

from unisono_launch.launch._diagnosis import WorkerOutcome
from unisono_launch.launch._events import (
    STOP_SIGNALS,
    EndingElsewhere,
    EndingReason,
    Event,
    SignalReceived,
    ThreadCrashed,
    UserMessage,
)
from unisono_launch.launch._plan import AttemptPlan
from unisono_launch.launch.workers import Worker
from unisono_launch.worker import FAILED, ExitCode, Status, read_status

_SETTLE_SECONDS: Final = 1.0  # JAX's peers need 0.4 s; what they say of the failure is worth having
_END_SECONDS: Final = 4.0  # for those that did not end by themselves: without their peer they can save nothing
_DIE_SECONDS: Final = 5.0  # a process that waits for a disk or a driver cannot be killed; so long we wait for it
_SUSPENDED_SECONDS: Final = 10.0  # so long a worker may be held by SIGSTOP; its peers miss its heartbeat then
_FAILED_SECONDS: Final = 2.0  # so long a worker may live after it reported that it failed
_CHECK_SECONDS: Final = 1.0  # between checks of what makes no event


class Supervisor:
    """Watches running workers until all have ended, or until nothing more can be done about them."""

    def __init__(
        self,
        workers: Sequence[Worker],
        plan: AttemptPlan,
        *,
        grace: float,
        say: Callable[[str], None],
        notify: Callable[[EndingReason], None],
        time_left: Callable[[], float | None] = lambda: None,
    ) -> None:
        """`time_left` asks whoever sent SIGTERM how long it will wait; None if that is not known."""
        self.signal: signal.Signals | None = None
        """By which the launcher was asked to stop."""
        self.reached: dict[str, int] = {}
        """The highest step that was seen of each phase."""
        self._workers = workers
        self._plan = plan
        self._grace = grace
        self._say = say
        self._notify = notify
        self._time_left = time_left
        self._stage: Literal["running", "leaving", "settling", "ending", "killed", "over"] = "running"
        self._deadline = float("inf")
        self._last_check = time.monotonic()
        self._suspended_since: dict[int, float] = {}
        self._suspended: set[int] = set()
        self._outlasting: set[int] = set()
        self._has_failed = False

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to wait for."""
        return self._stage == "over" or not any(worker.alive for worker in self._workers)

    @property
    def has_killed(self) -> bool:
        """Whether the workers had to be killed."""
        return self._stage in ("killed", "over")

    @property
    def timeout(self) -> float:
        """So many seconds may pass until :meth:`advance` is called again, if there is no event."""
        return min(_CHECK_SECONDS, max(0.0, self._deadline - time.monotonic()))

    def handle(self, event: Event) -> None:
        """Reacts to an event. The end of a worker needs no reaction here: :meth:`advance` sees it."""
        if isinstance(event, ThreadCrashed):
            raise event.error
        if isinstance(event, UserMessage):
            self._say(event.text)
        elif isinstance(event, EndingElsewhere) and event.attempt == self._plan.attempt:
            self._follow(event.reason)
        elif isinstance(event, SignalReceived):
            self._handle_signal(event.number)

    def advance(self) -> None:
        """Checks the workers and the clock, and does what is due."""
        if self._stage in ("running", "leaving"):
            self._check_silent_failures()
            self._check_exits()
        if time.monotonic() < self._deadline:
            return
        if self._stage in ("leaving", "settling"):
            self._outlasting = {worker.rank for worker in self._workers if worker.alive}
            self._request_stop(signal.SIGTERM, min(self._grace, _END_SECONDS))
        elif self._stage == "ending":
            self.kill()
        elif self._stage == "killed":
            self._stage = "over"

    def kill(self) -> None:
        """Ends all workers now."""
        self._stage, self._deadline = "killed", time.monotonic() + _DIE_SECONDS
        for worker in self._workers:
            worker.kill()

    def outcome(self, worker: Worker, errors: str) -> WorkerOutcome:
        """What is known of a worker at the end."""
        ended = worker.exit
        failed_at = self._reported_failure_at(worker, self._read_status(worker))
        by_itself = ended is not None and not worker.exited_on_request
        code = ended.code if ended is not None else -signal.SIGKILL
        return WorkerOutcome(
            rank=worker.rank,
            code=code if by_itself or failed_at is None else ExitCode.FAILED,
            ended_at=failed_at if failed_at is not None else ended.at if ended is not None else float("inf"),
            stop_requested=not by_itself and failed_at is None,
            suspended=worker.rank in self._suspended,
            outlasted_peers=worker.rank in self._outlasting,
            errors=errors,
        )

    def _handle_signal(self, number: signal.Signals) -> None:
        if number not in STOP_SIGNALS:
            for worker in self._workers:
                worker.send_signal(number)
        elif self.signal is None:
            self.signal = number
            if self._stage == "running":
                self._notify("signalled")
            if self._stage == "running" and any(worker.alive for worker in self._workers):
                # Scripts do not expect a closed terminal; what they do on SIGTERM is right then too.
                self._request_stop(signal.SIGTERM if number == signal.SIGHUP else number, self._grace)
                grace = self._shorten_grace() if number == signal.SIGTERM else self._grace
                hint = " Ctrl-C kills them now." if sys.stdin is not None and sys.stdin.isatty() else ""
                what = "end" if number == signal.SIGINT else "save and end"
                self._say(f"unisono: {number.name}. Workers have {grace:g} s to {what}.{hint}")
        elif number == signal.SIGINT:  # the user does not want to wait
            self.kill()

    def _shorten_grace(self) -> float:
        """Ends the workers before a scheduler kills them and this launcher, so that it can say what did not end."""
        began = time.monotonic()  # they save meanwhile: the question can take seconds
        left = self._time_left()
        grace = self._grace if left is None else max(1.0, min(self._grace, round(left)))
        self._deadline = began + grace
        return grace

    def _read_status(self, worker: Worker) -> Status | None:
        """What a worker reports of itself; its step is remembered, since a later record may say less."""
        status = read_status(self._plan.status_file(worker.rank))
        if status is not None and status.phase != FAILED:
            self.reached[status.phase] = max(status.step, self.reached.get(status.phase, 0))
        return status

    def _reported_failure_at(self, worker: Worker, status: Status | None) -> float | None:
        """When a worker reported that it failed; None if it did not, or only after it had been asked to stop."""
        if status is None or status.phase != FAILED:
            return None
        age = time.time() - status.written  # first: a pause of this thread makes the report later, not earlier
        reported = time.monotonic() - age
        asked = worker.stop_requested_at
        return reported if asked is None or reported < asked else None

    def _check_silent_failures(self) -> None:
        """Once a second: which workers are suspended, and which reported that they failed and do not end."""
        now = time.monotonic()
        if now - self._last_check < _CHECK_SECONDS:
            return
        if now - self._last_check > 5 * _CHECK_SECONDS:  # we were suspended ourselves, as by a scheduler
            self._suspended_since.clear()
        self._last_check = now
        for worker in self._workers:
            if not (self._plan.num_workers > 1 and worker.alive and worker.is_suspended()):
                self._suspended_since.pop(worker.rank, None)
            elif now - self._suspended_since.setdefault(worker.rank, now) >= _SUSPENDED_SECONDS:
                self._suspended.add(worker.rank)
            failed_at = self._reported_failure_at(worker, self._read_status(worker)) if worker.alive else None
            if failed_at is not None and now - failed_at > _FAILED_SECONDS:
                self._has_failed = True

    def _check_exits(self) -> None:
        """Sees which workers have failed or left, and lets the other machines know."""
        codes = {worker.exit.code for worker in self._workers if worker.exit} - {0}
        if codes - {ExitCode.PREEMPTED} or self._has_failed or self._suspended:
            self._settle()
            self._notify("failed")
        elif codes and self._stage == "running":
            self._let_leave()
            self._notify("preempted")

    def _follow(self, reason: EndingReason) -> None:
        """Does what the end of the attempt on another machine demands."""
        if self._stage not in ("running", "leaving"):
            return
        if reason == "signalled":
            self._request_stop(signal.SIGTERM, self._grace)
        elif reason == "failed":
            self._settle()
        elif self._stage == "running":
            self._let_leave()

    def _let_leave(self) -> None:
        """A worker was preempted: its peers get the time to leave that they would get after SIGTERM."""
        self._stage, self._deadline = "leaving", time.monotonic() + max(self._grace, _SETTLE_SECONDS)

    def _settle(self) -> None:
        """A worker failed: its peers get a moment to end. One that is suspended now is the one that they miss."""
        self._stage, self._deadline = "settling", time.monotonic() + _SETTLE_SECONDS
        self._suspended |= {worker.rank for worker in self._workers if worker.alive and worker.is_suspended()}

    def _request_stop(self, number: signal.Signals, grace: float) -> None:
        self._stage, self._deadline = "ending", time.monotonic() + grace
        for worker in self._workers:
            if worker.rank in self._suspended:  # it takes no other signal
                worker.kill()
            else:
                worker.request_stop(number)
