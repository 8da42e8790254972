"""The launcher of node rank 0 in an elastic job (`--nnodes MIN:MAX`): all joining launchers connect to it."""

from __future__ import annotations

import contextlib
import signal
import socket
import time
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Final, final

from unisono_launch.cluster import join_address
from unisono_launch.connection import SECRET_VARIABLE
from unisono_launch.launch._attempt import AttemptResult
from unisono_launch.launch._context import LauncherContext
from unisono_launch.launch._coordinator_server import CoordinatorServer, coordinator_server
from unisono_launch.launch._diagnosis import WorkerOutcome
from unisono_launch.launch._events import EndingReason, StopRequestedError
from unisono_launch.launch._launcher_group import LauncherGroup
from unisono_launch.launch._options import SizeRange, UsageError
from unisono_launch.launch._plan import AttemptPlan
from unisono_launch.launch._ports import hold_next_port, launcher_port, ports_of_attempt
from unisono_launch.launch._protocol import JoinRequirements, MachineReport
from unisono_launch.worker import ExitCode

# On another machine the end of an attempt may take the grace period twice (first for workers that leave by themselves,
# then for those that are asked to), and what the supervisor adds to it. A machine that has not reported by then will
# not report.
_END_SECONDS: Final = 20.0


@final
class CoordinatedGroup(LauncherGroup):
    """Gathers machines before each attempt, and combines what they report after it."""

    def __init__(self, context: LauncherContext, nnodes: SizeRange) -> None:
        assert context.machines.master_port is not None
        self._context = context
        self._nnodes = nnodes
        self._max_machines = len(context.machines.hosts)
        self._master_port = context.machines.master_port
        self._expected = set(range(1, self._max_machines))
        self._nodes: list[int] = []
        self._opened = contextlib.ExitStack()
        self._open_server: CoordinatorServer | None = None

    def __enter__(self) -> CoordinatedGroup:
        context = self._context
        secret = context.environ.get(SECRET_VARIABLE, "")
        # That warning is shown too, and is about the workers' port.
        if not secret and context.machines.public_address_warning(has_secret=False) is not None:
            context.screen.print_message(
                f"unisono: warning: the launchers connect at a public address, too. Set {SECRET_VARIABLE}, on all "
                "machines to the same value, so that no stranger can join them.",
                style="yellow",
            )
        _, num_workers = context.allocator.allocate()
        requirements = JoinRequirements(
            nnodes=str(self._nnodes), max_machines=self._max_machines, num_local_workers=num_workers, secret=secret
        )
        port = launcher_port(self._master_port)
        opening = coordinator_server(context.machines.master_address, port, requirements, context.events)
        self._open_server = self._opened.enter_context(opening)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self.finish(ExitCode.LAUNCHER, str(error))
        self._opened.close()

    @contextlib.contextmanager
    def assemble(self, attempt: int, why: str) -> Iterator[AttemptPlan]:
        """The machines that are connected when all have joined, or the window closes."""
        machines, (devices, num_workers) = self._context.machines, self._context.allocator.allocate()
        hosts = {0: socket.gethostname()} | self._wait_for_machines()
        # Counted up by attempts, as without a coordinator; but a port that was taken meanwhile is passed over.
        with hold_next_port(ports_of_attempt(self._master_port, 1, attempt)[0]) as port:
            ports = tuple(ports_of_attempt(port, num_workers, 0))
            self._nodes = list(hosts)
            self._expected = set(hosts) - {0}
            self._server.begin_attempt(attempt, why, hosts, ports)
            participants = machines.narrow(0, hosts.values(), port, source=f"--nnodes {self._nnodes}")
            yield self._context.plan(attempt, participants, devices, num_workers, ports)

    def notify_ending(self, reason: EndingReason) -> None:
        """All other machines end the attempt."""
        self._server.end_attempt(reason)

    def gather_results(self, plan: AttemptPlan, result: AttemptResult) -> AttemptResult:
        """Waits for the other machines, as long as they work or have reason to take their time."""
        number = result.signal
        while outstanding := self._server.outstanding:
            deadline = self._report_deadline()
            try:
                if self._context.next_event(deadline) is None and deadline < time.monotonic():
                    for node in outstanding:
                        self._server.exclude(node, ExitCode.LOST, "it did not end its workers in time")
            except StopRequestedError as stop:
                if number is not None and stop.number == signal.SIGINT:  # the user does not want to wait
                    break
                number = number or stop.number
                self._server.end_attempt("signalled")
        outcomes = [*result.outcomes, *self._outcomes_elsewhere(plan)]
        reached = Counter(result.reached)
        for report in self._server.reports.values():
            reached |= Counter(report.reached)  # the higher one of each
        self._expected -= {node for node, report in self._server.reports.items() if report.left is not None}
        return replace(
            result,
            outcomes=tuple(sorted(outcomes, key=lambda outcome: outcome.rank)),
            signal=number,
            ended=max(result.ended, time.monotonic()),
            reached=dict(reached),
        )

    def lost_unit(self, plan: AttemptPlan, rank: int) -> Hashable:
        """A machine."""
        return self._nodes[rank // plan.num_local_workers]

    def exclude(self, plan: AttemptPlan, rank: int) -> str | None:
        """Sends the machine away. This one cannot leave; and one that has left already need not."""
        node = self._nodes[rank // plan.num_local_workers]
        if node not in self._server.present:
            return None
        why = "its workers were lost in two successive attempts, and the job got no further in the second"
        self._server.exclude(node, ExitCode.LOST, why)
        self._expected.discard(node)
        return self._name(node)

    def finish(self, code: int, why: str) -> None:
        """All launchers end."""
        self._server.finish(code, why)

    @property
    def _server(self) -> CoordinatorServer:
        assert self._open_server is not None
        return self._open_server

    def _report_deadline(self) -> float:
        """Until when reports must arrive. Machines whose workers may still work have no limit; they send beats."""
        began = self._server.ending_since
        return float("inf") if began is None else began + 2 * self._context.options.grace + _END_SECONDS

    def _wait_for_machines(self) -> dict[int, str]:
        """Those that have joined once all expected ones have, or the window closes; raises :class:`UsageError`.

        All may join before the first attempt. Later those are expected that took part the last time and did not say
        that they leave; further ones only if there are not enough.
        """
        window = self._context.options.join_window
        deadline = time.monotonic() + window
        while True:
            present = self._server.present
            enough = len(present) + 1 >= self._nnodes.least
            if enough and self._expected <= present.keys():
                return present
            if time.monotonic() >= deadline:
                break
            self._context.next_event(deadline)
        if enough:
            missing = ", ".join(self._name(node) for node in sorted(self._expected - present.keys()))
            self._context.screen.print_message(
                f"unisono: {missing} did not connect within {window:g} s. The job continues without."
            )
            return present
        missing = ", ".join(self._name(node) for node in range(1, self._max_machines) if node not in present)
        address = join_address(self._context.machines.master_address, launcher_port(self._master_port))
        raise UsageError(
            f"{len(present) + 1} of at least {self._nnodes.least} machines connected to {address} within {window:g} s. "
            f"Missing: {missing}. Start `unisono run` there with the same flags, or wait longer: "
            f"--join-window {2 * window:g}"
        )

    def _name(self, node: int) -> str:
        host = self._server.known_hosts.get(node)
        return f"machine {node}" + (f" ({host})" if host else "")

    def _outcomes_elsewhere(self, plan: AttemptPlan) -> Iterator[WorkerOutcome]:
        reports, losses = self._server.reports, self._server.losses
        for rank, node in enumerate(self._nodes):
            workers = range(rank * plan.num_local_workers, (rank + 1) * plan.num_local_workers)
            if node in reports:
                yield from (
                    _mark_departure(outcome, reports[node])
                    for outcome in reports[node].outcomes
                    if outcome.rank in workers
                )
            elif node in losses:
                what, at = f"was lost with its machine ({losses[node].why})", losses[node].at
                yield from (WorkerOutcome(rank=i, code=-signal.SIGKILL, ended_at=at, description=what) for i in workers)


def _mark_departure(outcome: WorkerOutcome, report: MachineReport) -> WorkerOutcome:
    """A machine whose launcher was asked to stop has left: for the remaining ones, that is what its workers did."""
    if report.left is None or not outcome.stop_requested:
        return outcome
    what = f"left with its machine ({report.left.name} to the launcher there)"
    return replace(outcome, code=ExitCode.PREEMPTED, stop_requested=False, description=what)
