"""What the driver knows of a job: its attempts, one after the other, and what the user reads of them."""

from __future__ import annotations

import signal
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from unisono_launch.engines.ray._attempt_record import AttemptRecord
from unisono_launch.engines.ray._channel import AttemptBegan, AttemptEnded, Message, SetupFailed
from unisono_launch.launch import ExitCode, Screen, exit_code_after, shorten_path


class JobRecord:
    """The attempts of a job.

    Args:
        screen: where output and messages are shown.
        run_dir: the folder of the run.
        restarts: how many failures Ray lets the job survive.
        living_nodes: the IDs of Ray's nodes that are alive.
    """

    def __init__(
        self, screen: Screen, run_dir: Path, restarts: int, living_nodes: Callable[[], Collection[str]]
    ) -> None:
        self.setup_error: str | None = None
        """Why a worker cannot be started on its node."""
        self._screen = screen
        self._run_dir = run_dir
        self._max_restarts = self._restarts_left = restarts
        self._living_nodes = living_nodes
        self._attempt: AttemptRecord | None = None
        self._is_reported = False  # whether the user knows how the attempt ended
        self._messages: set[str] = set()  # those of this attempt

    @property
    def is_running(self) -> bool:
        """Whether workers are training, or have saved and Ray is about to start them again."""
        return self._attempt is not None and (not self._attempt.has_ended or self._attempt.planned is not None)

    @property
    def is_placing(self) -> bool:
        """Whether Ray has not started the workers of the next attempt yet."""
        if self._attempt is None:
            return True
        return self._attempt.has_ended and self._attempt.cause is not None and self._attempt.planned is None

    def add(self, messages: Sequence[Message]) -> None:
        """Takes what supervisors have sent, in the order in which it arrived."""
        for message in messages:
            content = message.content
            if isinstance(content, SetupFailed):
                self.setup_error = content.why
            elif isinstance(content, AttemptBegan):
                self._attempt_of(message.attempt, content.hosts).add_start(message.rank, content)
            elif self._attempt is None or message.attempt != self._attempt.attempt:
                continue  # Ray has ended it already
            elif isinstance(content, AttemptEnded):
                self._attempt.add_end(content)
                if self._attempt.has_ended:
                    self._report_restart(self._attempt)
            else:
                self._show(*content)

    def finish_after_signal(self, number: signal.Signals) -> int:
        """The driver was asked to stop: reports it, and returns the exit code."""
        outcomes = [] if self._attempt is None else list(self._attempt.outcomes.values())
        cause = None if self._attempt is None else self._attempt.cause
        of_signal = cause is not None and cause.witness is not None and cause.witness.code == -number
        if self._attempt is not None and cause is not None and cause.code != ExitCode.PREEMPTED and not of_signal:
            self._screen.print_message(self._attempt.describe(cause), style="red")
            return cause.code
        self._screen.print_message(f"unisono: ended by {number.name}.")
        return exit_code_after(number, [outcome.code for outcome in outcomes])

    def finish_after_failure(self) -> int | None:
        """Ray has given up: reports the cause, and returns the exit code; None if no worker has failed."""
        if self._attempt is None:
            return None
        self._attempt.add_losses(self._living_nodes())
        cause = self._attempt.cause
        if cause is None:
            return None
        self._screen.print_message(self._attempt.describe(cause), style="red")
        return cause.code

    def _attempt_of(self, attempt: int, hosts: tuple[str, ...]) -> AttemptRecord:
        if self._attempt is None or self._attempt.attempt != attempt:
            if self._attempt is not None and not self._is_reported:  # lost workers report nothing
                self._attempt.add_losses(self._living_nodes())
                self._report_restart(self._attempt)
            self._attempt = AttemptRecord(attempt, hosts, self._run_dir)
            self._is_reported = False
            self._messages.clear()
            self._screen.print_message(
                f"unisono: {len(hosts)} worker{'' if len(hosts) == 1 else 's'} on {', '.join(dict.fromkeys(hosts))}. "
                f"Logs: {shorten_path(self._attempt.log_folder)}",
                style="dim",
            )
        return self._attempt

    def _report_restart(self, attempt: AttemptRecord) -> None:
        """Says why Ray restarts all workers, unless it does not: then the report comes at the end."""
        cause = attempt.cause
        has_saved = cause is None or cause.code == ExitCode.PREEMPTED
        how = "" if cause is None else f"{attempt.headline(cause)}. "
        if attempt.planned is not None or (cause is not None and has_saved and self._max_restarts):
            self._is_reported = True
            self._screen.print_message(f"unisono: {how}Ray restarts all workers: attempt {attempt.attempt + 1}.")
        elif cause is not None and self._restarts_left:
            self._is_reported = True
            self._restarts_left -= 1
            left = self._restarts_left
            self._screen.print_message(
                f"unisono: {how}Ray restarts all workers: attempt {attempt.attempt + 1}, "
                f"{left} restart{'' if left == 1 else 's'} left."
            )

    def _show(self, method: str, arguments: tuple[object, ...]) -> None:
        if method == "print_message":  # every supervisor says it
            text = str(arguments[0])
            if text in self._messages:
                return
            self._messages.add(text)
        getattr(self._screen, method)(*arguments)
