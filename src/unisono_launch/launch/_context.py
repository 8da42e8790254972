"""What a launcher has for the whole job, whatever its role: options, machines, devices, run folder, screen, events."""

from __future__ import annotations

import queue
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from unisono_launch.cluster import num_requeues
from unisono_launch.connection import SECRET_VARIABLE, new_nonce
from unisono_launch.launch._allocation import WorkerAllocator
from unisono_launch.launch._background_screen import BackgroundScreen
from unisono_launch.launch._devices import MachineDevices
from unisono_launch.launch._events import (
    STOP_SIGNALS,
    Event,
    Events,
    SignalReceived,
    StopRequestedError,
    ThreadCrashed,
    UserMessage,
)
from unisono_launch.launch._failure_report import shorten_path
from unisono_launch.launch._machines import Machines, find_machines
from unisono_launch.launch._options import LaunchOptions, SizeRange, UsageError
from unisono_launch.launch._plan import AttemptPlan
from unisono_launch.launch._run_folder import make_run_folder
from unisono_launch.launch._screen import Screen, TerminalScreen
from unisono_launch.launch.workers import LocalProcesses, WorkerStarter

_LONGEST_GET: Final = 3600.0  # a queue does not wait for infinite seconds


@dataclass(frozen=True, kw_only=True)
class LauncherContext:
    """The same for all attempts."""

    options: LaunchOptions
    environ: Mapping[str, str]
    machines: Machines
    """All that may take part, and which one this is."""
    allocator: WorkerAllocator
    starter: WorkerStarter
    """Starts the workers of this machine."""
    run_dir: Path
    screen: Screen
    events: Events

    def plan(
        self,
        attempt: int,
        machines: Machines,
        devices: MachineDevices,
        num_local_workers: int,
        ports: tuple[int, ...],
    ) -> AttemptPlan:
        """The plan of an attempt.

        If this launcher starts all workers, they get a secret even if the job has none: no other process of this
        machine can then take the place of one. A single worker gets none, as its script may have set TF_CONFIG, and
        then it connects to workers of other launchers.
        """
        is_whole_job = machines.is_single and num_local_workers > 1
        return AttemptPlan(
            attempt=attempt,
            run_dir=self.run_dir,
            machines=machines,
            devices=devices,
            num_local_workers=num_local_workers,
            ports=ports,
            as_tensorflow=self.options.as_tensorflow,
            sharded=self.options.sharded,
            secret=self.environ.get(SECRET_VARIABLE, "") or (new_nonce() if is_whole_job else ""),
        )

    def next_event(self, deadline: float) -> Event | None:
        """Waits for an event between attempts; None at the deadline. Raises :class:`StopRequestedError`."""
        while True:
            left = deadline - time.monotonic()
            try:
                event = self.events.get(timeout=min(max(0.0, left), _LONGEST_GET))
                break
            except queue.Empty:
                if left <= 0:
                    return None
        if isinstance(event, ThreadCrashed):
            raise event.error
        if isinstance(event, UserMessage):
            self.screen.print_message(event.text)
        if isinstance(event, SignalReceived) and event.number in STOP_SIGNALS:
            raise StopRequestedError(event.number)
        return event

    def wait(self, seconds: float) -> None:
        """Lets time pass; raises :class:`StopRequestedError`."""
        deadline = time.monotonic() + seconds
        while self.next_event(deadline) is not None:
            continue

    def announce(self, plan: AttemptPlan) -> None:
        """Tells the user which workers start."""
        machines = plan.machines
        here = "" if machines.is_single else f"{machines.hosts[machines.rank]} starts {plan.num_local_workers} of "
        job = plan.machines.job_id
        source = plan.machines.source if job is None else f"SLURM job {job}"  # not the twelve variables that say so
        self.screen.print_message(
            f"unisono: {here}{plan.num_workers} worker{'' if plan.num_workers == 1 else 's'}, coordinator at "
            f"{plan.machines.master_address}:{plan.ports[0]} ({source}). "
            f"Logs: {shorten_path(plan.log_folder)}",
            style="dim",
        )


def discover(options: LaunchOptions, environ: Mapping[str, str]) -> LauncherContext:
    """Finds the machines and devices, and makes the folder of the run; raises :class:`UsageError`."""
    machines = find_machines(options, environ)
    if isinstance(options.num_workers, SizeRange) and not machines.is_single:
        raise UsageError(
            f"-n {options.num_workers}, and {machines.source} names {len(machines.hosts)} machines, each with the same "
            f"number of workers. Give one, as in -n {options.num_workers.most}; or use this machine alone: --nnodes 1"
        )
    allocator = WorkerAllocator(options, environ)  # before a folder is created: it raises errors
    run_dir = make_run_folder(options, machines, num_requeues=num_requeues(environ))
    return LauncherContext(
        options=options,
        environ=environ,
        machines=machines,
        allocator=allocator,
        starter=LocalProcesses(environ),
        run_dir=run_dir,
        screen=BackgroundScreen(TerminalScreen(environ), run_dir / "logs"),
        events=queue.SimpleQueue(),
    )
