"""Attempt after attempt, until the job is done or may not try again."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import final

from unisono_launch.cluster import is_srun_task, num_requeues
from unisono_launch.connection import SECRET_VARIABLE
from unisono_launch.launch._attempt import AttemptResult, run_attempt
from unisono_launch.launch._context import LauncherContext
from unisono_launch.launch._diagnosis import FailureCause, find_cause
from unisono_launch.launch._event_log import EventLog, LaunchEvent
from unisono_launch.launch._events import StopRequestedError, exit_code_after, signals_as_events
from unisono_launch.launch._failure_report import count_oom_kills, describe_failure, headline
from unisono_launch.launch._launcher_group import LauncherGroup
from unisono_launch.launch._options import SizeRange, UsageError
from unisono_launch.launch._plan import AttemptPlan
from unisono_launch.launch._restart_policy import FurthestSteps, RepeatedlyLost, RestartBudget
from unisono_launch.launch._run_folder import highest_attempt
from unisono_launch.worker import ExitCode


@dataclass(frozen=True)
class _JobEnd:
    code: int
    why: str = ""


@final
class Job:
    """All attempts of one command, decided by this launcher."""

    def __init__(self, context: LauncherContext, group: LauncherGroup) -> None:
        self._context = context
        self._group = group
        self._budget = RestartBudget(context.options.restarts)
        self._furthest = FurthestSteps()
        self._losses = RepeatedlyLost()
        self._announced_workers = 0
        self._pause = 0.0
        self._oom_kills_before = count_oom_kills()
        self._log = EventLog(context.run_dir, enabled=context.machines.rank == 0, warn=context.screen.print_message)

    def run(self) -> int:
        """Tries until the job is done, was ended, or has used up its restarts; returns the exit code."""
        context = self._context
        warning = context.machines.public_address_warning(has_secret=bool(context.environ.get(SECRET_VARIABLE)))
        if warning is not None:
            context.screen.print_message(f"unisono: warning: {warning}", style="yellow")
        with signals_as_events(context.events), context.starter, self._group:
            end = self._run_attempts()
            self._group.finish(end.code, end.why)
        self._log.add("end", code=int(end.code), why=end.why)
        return end.code

    def _run_attempts(self) -> _JobEnd:
        cause: FailureCause | None = None
        why = ""
        for attempt in itertools.count(self._first_attempt()):
            try:
                self._context.wait(self._pause)
                with self._group.assemble(attempt, why) as plan:
                    self._announce(plan)
                    result = run_attempt(self._context, plan, self._group.notify_ending)
                    result = self._group.gather_results(plan, result)
            except UsageError as error:  # too few workers are left, a port is taken
                if cause is None:
                    raise
                self._context.screen.print_message(f"unisono: {error}", style="red")
                return _JobEnd(self._exit_code(cause, plan), str(error))
            except StopRequestedError as stop:
                codes = [] if cause is None else [cause.code]  # preempted workers have saved
                return _JobEnd(exit_code_after(stop.number, codes), f"ended by {stop.number.name}")
            cause = find_cause(result.outcomes)
            if cause is None or result.signal is not None:
                return self._end(cause, plan, result)
            if not self._prepare_restart(cause, plan, result):
                return self._fail(cause, plan, result)
            why = headline(cause, plan)
        raise AssertionError("there is always a next attempt")

    def _first_attempt(self) -> int:
        """A requeued job counts on: its first attempt has another number, and folder of logs, than those before.

        Preemptions use up no restart, so there may have been more attempts than restarts. Launchers that decide by
        themselves do not look at what is there: their peers may have begun already, and all must count alike.
        """
        options = self._context.options
        requeues = num_requeues(self._context.environ)
        first = requeues * (options.restarts + 1)
        if requeues and (self._context.machines.is_single or isinstance(options.nnodes, SizeRange)):
            return max(first, highest_attempt(self._context.run_dir) + 1)
        return first

    def _announce(self, plan: AttemptPlan) -> None:
        if plan.num_workers != self._announced_workers and (self._announced_workers or plan.num_workers > 1):
            self._context.announce(plan)  # one worker alone looks like `python script.py`
        self._announced_workers = plan.num_workers
        self._log.add(
            "attempt",
            attempt=plan.attempt,
            workers=plan.num_workers,
            hosts=list(plan.machines.hosts),
            program=list(self._context.options.program),
        )

    def _prepare_restart(self, cause: FailureCause, plan: AttemptPlan, result: AttemptResult) -> bool:
        """Records a failure; whether there is another attempt."""
        progressed = self._furthest.advance(result.reached)
        pause = self._budget.pause_before_next(
            preempted=cause.code == ExitCode.PREEMPTED, seconds=result.ended - result.began, progressed=progressed
        )
        if pause is None:
            return False
        self._announce_restart(cause, plan, pause)
        event: LaunchEvent = "preempted" if cause.code == ExitCode.PREEMPTED else "failed"
        self._log.add(event, attempt=plan.attempt, code=int(cause.code), cause=headline(cause, plan))
        is_known = cause.is_loss and cause.rank < plan.num_workers
        lost = self._group.lost_unit(plan, cause.rank) if is_known else None
        if self._losses.is_permanent(lost, progressed=progressed):
            excluded = self._group.exclude(plan, cause.rank)
            if excluded is not None:
                self._log.add("excluded", attempt=plan.attempt, what=excluded)
                self._context.screen.print_message(
                    f"unisono: {excluded} is left out from now on: it was lost in two successive attempts, and the job "
                    "got no further in the second."
                )
        self._pause = pause
        return True

    def _announce_restart(self, cause: FailureCause, plan: AttemptPlan, pause: float) -> None:
        left = self._budget.left
        later = f" in {pause:g} s" if pause else ""
        self._context.screen.print_message(
            f"unisono: {headline(cause, plan)}. All workers restart{later}: attempt {plan.attempt + 1}, "
            f"{left} restart{'' if left == 1 else 's'} left."
        )

    def _end(self, cause: FailureCause | None, plan: AttemptPlan, result: AttemptResult) -> _JobEnd:
        """All workers are done, or a signal arrived."""
        number = result.signal
        codes_on_request = [outcome.code for outcome in result.outcomes if outcome.stop_requested]
        if number is None or (cause is None and not codes_on_request):
            return _JobEnd(ExitCode.DONE)
        # Schedulers signal every process: a worker can have died of it before it was asked to stop.
        of_signal = cause is not None and cause.witness is not None and cause.witness.code == -number
        is_preempted = cause is not None and cause.code == ExitCode.PREEMPTED
        if cause is not None and not of_signal and not is_preempted:
            return self._fail(cause, plan, result)
        codes = [*codes_on_request, ExitCode.PREEMPTED] if is_preempted else codes_on_request
        self._context.screen.print_message(f"unisono: ended by {number.name}.")
        return _JobEnd(exit_code_after(number, codes), f"ended by {number.name}")

    def _fail(self, cause: FailureCause, plan: AttemptPlan, result: AttemptResult) -> _JobEnd:
        num_oom_kills = count_oom_kills() - self._oom_kills_before
        text = describe_failure(cause, plan, result.outcomes, num_oom_kills=num_oom_kills)
        self._context.screen.print_message(text, style="red")
        return _JobEnd(self._exit_code(cause, plan), headline(cause, plan))

    def _exit_code(self, cause: FailureCause, plan: AttemptPlan) -> int:
        # srun reports the highest code of its tasks, and that must be the one of the machine with the cause, not ours.
        is_hidden_by_ours = cause.is_elsewhere and not plan.machines.is_single and is_srun_task(self._context.environ)
        return ExitCode.FAILED if is_hidden_by_ours else cause.code
