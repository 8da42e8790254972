"""Attempt after attempt, until the job is done or may not try again."""

from __future__ import annotations

import itertools
import signal
from dataclasses import dataclass
from typing import final

from unisono_launch.launch._attempt import Result
from unisono_launch.launch._budget import Budget
from unisono_launch.launch._environment import Layout
from unisono_launch.launch._events import code_of, signals_as_events
from unisono_launch.launch._group import Group
from unisono_launch.launch._guarding import Guard, guarded
from unisono_launch.launch._here import AskedToEndError, Here
from unisono_launch.launch._progress import Losses, Progress
from unisono_launch.launch._report import headline, num_ooms, report
from unisono_launch.launch._verdict import Cause, find_cause
from unisono_launch.launch._workforce import TooFewError
from unisono_launch.worker import ExitCode


@dataclass(frozen=True)
class _End:
    code: int
    why: str = ""


@final
class Job:
    """All attempts of one command, decided by this launcher."""

    def __init__(self, here: Here, group: Group) -> None:
        self._here = here
        self._group = group
        self._budget = Budget(here.options.restarts)
        self._progress = Progress()
        self._losses = Losses()
        self._size = 0
        self._pause = 0.0
        self._ooms = num_ooms()

    def run(self) -> int:
        """Tries until the job is done, was ended, or has used up its restarts; returns the exit code."""
        warning = self._here.machines.warning()
        if warning is not None:
            self._here.screen.message(f"unisono: warning: {warning}", style="yellow")
        with signals_as_events(self._here.events), guarded(self._here.job, self._here.environ) as guard, self._group:
            end = self._attempts(guard)
            self._group.dismiss(end.code, end.why)
        return end.code

    def _attempts(self, guard: Guard) -> _End:
        cause: Cause | None = None
        why = ""
        for attempt in itertools.count():
            try:
                self._here.wait(self._pause)
                with self._group.assembled(attempt, why) as layout:
                    self._introduce(layout)
                    result = self._group.completed(layout, self._here.run(layout, guard, self._group.notify))
            except TooFewError as error:
                if cause is None:
                    raise
                self._here.screen.message(f"unisono: {error}", style="red")
                return _End(cause.code, str(error))
            except AskedToEndError as interrupted:
                return _End(code_of(interrupted.number), f"ended by {interrupted.number.name}")
            cause = find_cause(result.accounts)
            if cause is None or result.signal is not None:
                return self._ended(cause, layout, result)
            if not self._tries_again(cause, layout, result):
                return self._failed(cause, layout, result)
            why = headline(cause, layout)
        raise AssertionError("there is always a next attempt")

    def _introduce(self, layout: Layout) -> None:
        if layout.num_workers != self._size and (self._size or layout.num_workers > 1):
            self._here.introduce(layout)  # one alone looks like `python script.py`
        self._size = layout.num_workers

    def _tries_again(self, cause: Cause, layout: Layout, result: Result) -> bool:
        """Takes notice of a failure; whether there is another attempt."""
        progressed = self._progress.passes(result.reached)
        pause = self._budget.pause_before_next(
            preempted=cause.code == ExitCode.PREEMPTED, seconds=result.ended - result.began, progressed=progressed
        )
        if pause is None:
            return False
        self._announce_restart(cause, layout, pause)
        lost = self._group.unit(layout, cause.rank) if cause.is_loss and cause.rank < layout.num_workers else None
        if self._losses.for_good(lost, progressed=progressed):
            self._leave_out(cause, layout)
        self._pause = pause
        return True

    def _leave_out(self, cause: Cause, layout: Layout) -> None:
        left_out = self._group.leave_out(layout, cause.rank)
        if left_out is not None:
            self._here.screen.message(
                f"unisono: {left_out} is left out from now on: it was lost in two attempts running, and the job got no "
                "further in the second."
            )

    def _announce_restart(self, cause: Cause, layout: Layout, pause: float) -> None:
        left = self._budget.left
        later = f" in {pause:g} s" if pause else ""
        self._here.screen.message(
            f"unisono: {headline(cause, layout)}. All start again{later}: attempt {layout.attempt + 1}, "
            f"{left} more restart{'' if left == 1 else 's'} left."
        )

    def _ended(self, cause: Cause | None, layout: Layout, result: Result) -> _End:
        """All is done, or a signal came."""
        number = result.signal
        told = [account.code for account in result.accounts if account.told]
        if number is None or (cause is None and not told):
            return _End(ExitCode.DONE)
        # Schedulers signal every process: a worker can have died of it before we heard of it.
        of_signal = cause is not None and cause.witness is not None and cause.witness.code == -number
        if cause is not None and not of_signal:
            return self._failed(cause, layout, result)
        self._here.screen.message(f"unisono: ended by {number.name}.")
        preempted = number != signal.SIGINT and ExitCode.PREEMPTED in told
        return _End(ExitCode.PREEMPTED if preempted else code_of(number), f"ended by {number.name}")

    def _failed(self, cause: Cause, layout: Layout, result: Result) -> _End:
        self._here.screen.message(report(cause, layout, result, ooms=num_ooms() - self._ooms), style="red")
        return _End(cause.code, headline(cause, layout))
