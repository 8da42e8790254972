"""`unisono run`: attempt after attempt, until the job is done or may not try again."""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import signal
import sys
import time
import traceback
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from unisono_launch.launch._arguments import parse
from unisono_launch.launch._attempt import Result, run_attempt
from unisono_launch.launch._devices import divide, find_devices
from unisono_launch.launch._environment import Layout
from unisono_launch.launch._events import ENDING, Events, Signalled, signals_as_events
from unisono_launch.launch._guarding import Guard, guarded
from unisono_launch.launch._machines import find_machines
from unisono_launch.launch._options import Options, UsageError
from unisono_launch.launch._ports import free_ports, ports_of_attempt, this_port
from unisono_launch.launch._report import headline, num_ooms, report, short
from unisono_launch.launch._run_folder import make_run_folder
from unisono_launch.launch._screen import Screen
from unisono_launch.launch._verdict import Cause, find_cause
from unisono_launch.worker import ExitCode

_HASTY: Final = 10.0  # a worker that asks to be started again sooner than this has to wait, longer each time
_LONGEST_PAUSE: Final = 30.0


def run(arguments: Sequence[str]) -> int:
    """Runs the command with the words after `unisono run`; returns the exit code."""
    try:
        return _Job(parse(arguments), dict(os.environ)).run()
    except UsageError as error:
        print(f"unisono run: {error}", file=sys.stderr)
    except KeyboardInterrupt:  # before any worker was started, or after all have ended
        return ExitCode.INTERRUPTED
    except Exception:  # not 1, which is the script's
        traceback.print_exc()
    return ExitCode.LAUNCHER


class _Job:
    """All attempts of one command on this machine."""

    def __init__(self, options: Options, environ: Mapping[str, str]) -> None:
        self._options = options
        self._environ = environ
        self._machines = find_machines(options, environ)
        self._devices = find_devices(options.devices, environ)
        self._local_size = divide(self._devices, options.num_workers)
        self._run_dir = make_run_folder(options, self._machines)
        self._id = uuid.uuid4().hex
        self._screen = Screen(environ)
        self._events: Events = queue.SimpleQueue()
        self._ooms = num_ooms()

    def run(self) -> int:
        """Tries until the job is done, was ended, or has used up its restarts."""
        failures = hasty = 0
        with signals_as_events(self._events), guarded(self._id, self._environ) as guard:
            for attempt in itertools.count():
                with self._laid_out(attempt) as layout:
                    result = self._try(layout, guard)
                cause = find_cause(result.accounts)
                if cause is None or result.signal is not None:
                    return self._end(cause, layout, result)
                preempted = cause.code == ExitCode.PREEMPTED
                failures += not preempted
                if failures > self._options.max_restarts or not self._options.max_restarts:
                    return self._fail(cause, layout, result)
                hasty = hasty + 1 if preempted and result.ended - result.began < _HASTY else 0
                pause = min(2.0 ** (hasty - 1), _LONGEST_PAUSE) if hasty else 0.0
                self._announce_restart(cause, layout, failures, pause)
                number = self._wait(pause)
                if number is not None:
                    return _code_of(number)
        raise AssertionError("there is always a next attempt")

    @contextlib.contextmanager
    def _laid_out(self, attempt: int) -> Iterator[Layout]:
        """The plan of an attempt, its ports held."""
        with contextlib.ExitStack() as held:
            first = self._machines.port
            if first is None:
                ports = held.enter_context(free_ports(self._local_size))
            else:
                ports = ports_of_attempt(first, self._local_size, attempt)
                if self._machines.rank == 0:
                    held.enter_context(this_port(ports[0]))
            layout = Layout(
                job=self._id,
                attempt=attempt,
                run_dir=self._run_dir,
                machines=self._machines,
                devices=self._devices,
                local_size=self._local_size,
                ports=tuple(ports),
            )
            if attempt == 0:
                self._introduce(layout)
            yield layout

    def _try(self, layout: Layout, guard: Guard) -> Result:
        return run_attempt(
            layout,
            self._options.program,
            self._environ,
            grace=self._options.grace,
            events=self._events,
            screen=self._screen,
            guard=guard,
        )

    def _introduce(self, layout: Layout) -> None:
        warning = self._machines.warning()
        if warning is not None:
            self._screen.message(f"unisono: warning: {warning}", style="yellow")
        if layout.num_workers == 1:  # looks like `python script.py`
            return
        here = f"{layout.local_size} of " if not self._machines.alone else ""
        self._screen.message(
            f"unisono: {here}{layout.num_workers} workers, meeting at {self._machines.address}:{layout.ports[0]} "
            f"({self._machines.source}). Logs: {short(layout.logs)}",
            style="dim",
        )

    def _announce_restart(self, cause: Cause, layout: Layout, failures: int, pause: float) -> None:
        left = self._options.max_restarts - failures
        later = f" in {pause:g} s" if pause else ""
        self._screen.message(
            f"unisono: {headline(cause, layout)}. All start again{later}: attempt {layout.attempt + 1}, "
            f"{left} more restart{'' if left == 1 else 's'} left."
        )

    def _wait(self, seconds: float) -> signal.Signals | None:
        """Lets time pass; a signal that asks to end ends it."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                event = self._events.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return None
            if isinstance(event, Signalled) and event.number in ENDING:
                return event.number

    def _end(self, cause: Cause | None, layout: Layout, result: Result) -> int:
        """All is done, or a signal came."""
        number = result.signal
        told = [account.code for account in result.accounts if account.told]
        if number is None or (cause is None and not told):
            return ExitCode.DONE
        # Schedulers signal every process: a worker can have died of it before we heard of it.
        of_signal = cause is not None and cause.witness is not None and cause.witness.code == -number
        if cause is not None and not of_signal:
            return self._fail(cause, layout, result)
        self._screen.message(f"unisono: ended by {number.name}.")
        if number != signal.SIGINT and ExitCode.PREEMPTED in told:
            return ExitCode.PREEMPTED
        return _code_of(number)

    def _fail(self, cause: Cause, layout: Layout, result: Result) -> int:
        self._screen.message(report(cause, layout, result, ooms=num_ooms() - self._ooms), style="red")
        return cause.code


def _code_of(number: signal.Signals) -> ExitCode:
    return ExitCode.INTERRUPTED if number == signal.SIGINT else ExitCode.TERMINATED
