"""The decisions of one attempt: who has failed, and when the others must end.

    running ──a worker fails──> settling ──1 s──> ending ──4 s──> killed
       ├──one leaves with 75──> leaving ──grace──> ending ──4 s──> killed
       └─────SIGINT, SIGTERM────────────────────> ending ──grace──> killed

Peers of a lost worker normally end while we settle. Those of one that was preempted (code 75) are saving at the same
step, and leave by themselves if they are let; when one of them fails meanwhile, it is a failure like any other. A
worker that ends with code 0 is no failure, early or not. What happens on other machines of the job (`Elsewhere`) counts
as if it happened here.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from typing import Final, Literal

from unisono_launch.launch._environment import Layout
from unisono_launch.launch._events import ENDING, Crashed, Elsewhere, Event, How, Note, Signalled
from unisono_launch.launch._verdict import Account
from unisono_launch.launch._worker import Worker
from unisono_launch.worker import FAILED, ExitCode, Status, read_status

_SETTLING: Final = 1.0  # JAX's peers need 0.4 s; what they say of the failure is worth having
_ENDING: Final = 4.0  # for those that did not end by themselves: without their peer they can save nothing
_DYING: Final = 5.0  # a process that waits for a disk or a driver cannot be killed; so long we wait for it
_STOPPED: Final = 10.0  # so long a worker may be held by SIGSTOP; its peers miss its heartbeat then
_FAILED: Final = 2.0  # so long a worker may live after it said that it failed
_LOOKING: Final = 1.0  # between looks at what makes no event


class Supervisor:
    """Watches running workers until all have ended, or until nothing more can be done about them."""

    def __init__(
        self,
        workers: Sequence[Worker],
        layout: Layout,
        *,
        grace: float,
        say: Callable[[str], None],
        notify: Callable[[How], None],
    ) -> None:
        self.signal: signal.Signals | None = None
        """By which the launcher was asked to end."""
        self.reached: dict[str, int] = {}
        """The highest step that was seen of each phase."""
        self._workers = workers
        self._layout = layout
        self._grace = grace
        self._say = say
        self._notify = notify
        self._stage: Literal["running", "leaving", "settling", "ending", "killed", "over"] = "running"
        self._deadline = float("inf")
        self._last_look = time.monotonic()
        self._stopped_since: dict[int, float] = {}
        self._stopped: set[int] = set()
        self._late: set[int] = set()
        self._failed = False

    @property
    def over(self) -> bool:
        """Whether there is nothing left to wait for."""
        return self._stage == "over" or not any(worker.alive for worker in self._workers)

    @property
    def in_a_hurry(self) -> bool:
        """Whether the workers had to be killed."""
        return self._stage in ("killed", "over")

    @property
    def patience(self) -> float:
        """So many seconds may pass until :meth:`advance` is called again, if there is no event."""
        return min(_LOOKING, max(0.0, self._deadline - time.monotonic()))

    def handle(self, event: Event) -> None:
        """Takes notice of an event. The end of a worker speaks for itself."""
        if isinstance(event, Crashed):
            raise event.error
        if isinstance(event, Note):
            self._say(event.text)
        elif isinstance(event, Elsewhere) and event.attempt == self._layout.attempt:
            self._follow(event.how)
        elif isinstance(event, Signalled):
            self._signal(event)

    def advance(self) -> None:
        """Looks at the workers and the clock, and does what is due."""
        if self._stage in ("running", "leaving"):
            self._look()
            self._notice()
        if time.monotonic() < self._deadline:
            return
        if self._stage in ("leaving", "settling"):
            self._late = {worker.rank for worker in self._workers if worker.alive}
            self._tell(signal.SIGTERM, min(self._grace, _ENDING))
        elif self._stage == "ending":
            self.kill()
        elif self._stage == "killed":
            self._stage = "over"

    def kill(self) -> None:
        """Ends all workers now."""
        self._stage, self._deadline = "killed", time.monotonic() + _DYING
        for worker in self._workers:
            worker.kill()

    def account(self, worker: Worker, errors: str) -> Account:
        """What is known of a worker at the end."""
        ended = worker.ending
        said = self._said_failed(worker, self._status(worker))
        by_itself = ended is not None and not worker.told
        code = ended.code if ended is not None else -signal.SIGKILL
        return Account(
            rank=worker.rank,
            code=code if by_itself or said is None else ExitCode.FAILED,
            at=said if said is not None else ended.at if ended is not None else float("inf"),
            told=not by_itself and said is None,
            stopped=worker.rank in self._stopped,
            late=worker.rank in self._late,
            errors=errors,
        )

    def _signal(self, event: Signalled) -> None:
        if event.number not in ENDING:
            for worker in self._workers:
                worker.send(event.number)
        elif self.signal is None:
            self.signal = event.number
            if self._stage == "running":
                self._say(
                    f"unisono: {event.number.name}. Workers have {self._grace:g} s to end. Ctrl-C kills them now."
                )
                self._notify("signalled")
                # A closed terminal is nothing that a script expects; what it can do on SIGTERM is right then too.
                self._tell(signal.SIGTERM if event.number == signal.SIGHUP else event.number, self._grace)
        elif event.number == signal.SIGINT:  # somebody is in a hurry
            self.kill()

    def _status(self, worker: Worker) -> Status | None:
        """What a worker says of itself; its step is kept in mind, since a later record may tell less."""
        status = read_status(self._layout.status(worker.rank))
        if status is not None and status.phase != FAILED:
            self.reached[status.phase] = max(status.step, self.reached.get(status.phase, 0))
        return status

    def _said_failed(self, worker: Worker, status: Status | None) -> float | None:
        """When a worker said that it failed; None if it did not, or only after we had told it to end."""
        if status is None or status.phase != FAILED:
            return None
        said = time.monotonic() - (time.time() - status.written)
        return said if worker.signalled is None or said < worker.signalled else None

    def _look(self) -> None:
        """Once a second: who is stopped, and who said that it failed and does not end."""
        now = time.monotonic()
        if now - self._last_look < _LOOKING:
            return
        if now - self._last_look > 5 * _LOOKING:  # we were stopped ourselves, as by a scheduler that suspends jobs
            self._stopped_since.clear()
        self._last_look = now
        for worker in self._workers:
            if not (self._layout.num_workers > 1 and worker.alive and worker.is_stopped()):
                self._stopped_since.pop(worker.rank, None)
            elif now - self._stopped_since.setdefault(worker.rank, now) >= _STOPPED:
                self._stopped.add(worker.rank)
            said = self._said_failed(worker, self._status(worker)) if worker.alive else None
            if said is not None and now - said > _FAILED:
                self._failed = True

    def _notice(self) -> None:
        """Sees who has failed or left, and lets the other machines know."""
        codes = {worker.ending.code for worker in self._workers if worker.ending} - {0}
        if codes - {ExitCode.PREEMPTED} or self._failed or self._stopped:
            self._settle()
            self._notify("failed")
        elif codes and self._stage == "running":
            self._leave()
            self._notify("preempted")

    def _follow(self, how: How) -> None:
        """Does what an event on another machine demands."""
        if self._stage not in ("running", "leaving"):
            return
        if how == "signalled":
            self._tell(signal.SIGTERM, self._grace)
        elif how == "failed":
            self._settle()
        elif self._stage == "running":
            self._leave()

    def _leave(self) -> None:
        """Somebody was preempted: the others get the time to leave by themselves that they would get after SIGTERM."""
        self._stage, self._deadline = "leaving", time.monotonic() + max(self._grace, _SETTLING)

    def _settle(self) -> None:
        """Somebody failed: the others get a moment to end by themselves. Who is stopped now is whom they miss."""
        self._stage, self._deadline = "settling", time.monotonic() + _SETTLING
        self._stopped |= {worker.rank for worker in self._workers if worker.alive and worker.is_stopped()}

    def _tell(self, number: signal.Signals, patience: float) -> None:
        self._stage, self._deadline = "ending", time.monotonic() + patience
        for worker in self._workers:
            if worker.rank in self._stopped:  # it takes no other signal
                worker.kill()
            else:
                worker.tell_to_end(number)
