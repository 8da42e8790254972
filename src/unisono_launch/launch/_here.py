"""What a launcher has on its machine, whatever its part in the job: the same for all attempts."""

from __future__ import annotations

import queue
import signal
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from unisono_launch.launch._attempt import Result, run_attempt
from unisono_launch.launch._devices import Devices
from unisono_launch.launch._environment import Layout
from unisono_launch.launch._events import ENDING, Crashed, Event, Events, How, Note, Signalled
from unisono_launch.launch._guarding import Guard
from unisono_launch.launch._machines import Machines, find_machines
from unisono_launch.launch._options import Options, Span, UsageError
from unisono_launch.launch._report import short
from unisono_launch.launch._run_folder import make_run_folder
from unisono_launch.launch._screen import Screen
from unisono_launch.launch._workforce import Workforce

_LONGEST_GET: Final = 3600.0  # a queue does not wait for infinite seconds


class AskedToEndError(Exception):
    """The launcher was asked to end while no worker ran."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number


@dataclass(frozen=True, kw_only=True)
class Here:
    """This launcher's machine, workers, folder and screen."""

    options: Options
    environ: Mapping[str, str]
    machines: Machines
    """All that may take part, and which one this is."""
    workforce: Workforce
    run_dir: Path
    job: str
    """The mark of this launcher's processes."""
    screen: Screen
    events: Events

    def layout(
        self, attempt: int, machines: Machines, devices: Devices, local_size: int, ports: tuple[int, ...]
    ) -> Layout:
        """The plan of an attempt."""
        return Layout(
            job=self.job,
            attempt=attempt,
            run_dir=self.run_dir,
            machines=machines,
            devices=devices,
            local_size=local_size,
            ports=ports,
            as_tensorflow=self.options.as_tensorflow,
        )

    def run(self, layout: Layout, guard: Guard, notify: Callable[[How], None]) -> Result:
        """One attempt of this machine's workers."""
        return run_attempt(
            layout,
            self.options.program,
            self.environ,
            grace=self.options.grace,
            events=self.events,
            screen=self.screen,
            guard=guard,
            notify=notify,
        )

    def next_event(self, deadline: float) -> Event | None:
        """Waits for an event between attempts; None at the deadline. Raises :class:`AskedToEndError`."""
        while True:
            left = deadline - time.monotonic()
            try:
                event = self.events.get(timeout=min(max(0.0, left), _LONGEST_GET))
                break
            except queue.Empty:
                if left <= 0:
                    return None
        if isinstance(event, Crashed):
            raise event.error
        if isinstance(event, Note):
            self.screen.message(event.text)
        if isinstance(event, Signalled) and event.number in ENDING:
            raise AskedToEndError(event.number)
        return event

    def wait(self, seconds: float) -> None:
        """Lets time pass; raises :class:`AskedToEndError`."""
        deadline = time.monotonic() + seconds
        while self.next_event(deadline) is not None:
            continue

    def introduce(self, layout: Layout) -> None:
        """Says who starts."""
        here = f"{layout.local_size} of " if not self.machines.alone else ""
        self.screen.message(
            f"unisono: {here}{layout.num_workers} worker{'' if layout.num_workers == 1 else 's'}, meeting at "
            f"{layout.machines.address}:{layout.ports[0]} ({layout.machines.source}). Logs: {short(layout.logs)}",
            style="dim",
        )


def look_around(options: Options, environ: Mapping[str, str]) -> Here:
    """Finds out what there is, and makes the folder of the run; raises :class:`UsageError`."""
    machines = find_machines(options, environ)
    if isinstance(options.num_workers, Span) and not machines.alone:
        raise UsageError(
            f"-n {options.num_workers}, and {machines.source} names {len(machines.hosts)} machines, each with the same "
            f"number of workers. Give one, as in -n {options.num_workers.most}; or use this machine alone: --nnodes 1"
        )
    return Here(
        options=options,
        environ=environ,
        machines=machines,
        workforce=Workforce(options, environ),
        run_dir=make_run_folder(options, machines),
        job=uuid.uuid4().hex,
        screen=Screen(environ),
        events=queue.SimpleQueue(),
    )
