"""What the driver knows of one attempt: which workers began, how they ended, and what caused a failure."""

from __future__ import annotations

import signal
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from unisono_launch.engines.ray._channel import AttemptBegan, AttemptEnded, PlannedRestart
from unisono_launch.launch import (
    AttemptPlan,
    FailureCause,
    MachineDevices,
    Machines,
    WorkerOutcome,
    describe_failure,
    find_cause,
    headline,
    report_from_json,
)


class AttemptRecord:
    """One attempt, as its supervisors report it."""

    def __init__(self, attempt: int, hosts: tuple[str, ...], run_dir: Path) -> None:
        self.attempt = attempt
        self.hosts = hosts
        self.planned: PlannedRestart | None = None
        """Whether it ended because Ray had announced that it starts all again."""
        self.outcomes: dict[int, WorkerOutcome] = {}
        self._nodes: dict[int, str] = {}
        self._plan = AttemptPlan(
            attempt=attempt,
            run_dir=run_dir,
            machines=Machines(rank=0, hosts=hosts, master_address="", master_port=None, source="Ray"),
            devices=MachineDevices(kind="as found"),
            num_local_workers=1,
            ports=(),
        )

    @property
    def log_folder(self) -> Path:
        """Where the output of its workers is stored."""
        return self._plan.log_folder

    @property
    def has_ended(self) -> bool:
        """Whether all workers have reported their end."""
        return len(self.outcomes) == len(self.hosts)

    @property
    def cause(self) -> FailureCause | None:
        """Why it failed; None if it did not, as far as that is known."""
        return find_cause(self._sorted_outcomes)

    def add_start(self, rank: int, began: AttemptBegan) -> None:
        """A worker begins."""
        self._nodes[rank] = began.node

    def add_end(self, ended: AttemptEnded) -> None:
        """A worker has ended."""
        self.planned = self.planned or ended.planned
        for outcome in report_from_json(ended.report).outcomes:
            self.outcomes[outcome.rank] = outcome

    def add_losses(self, living_nodes: Collection[str]) -> None:
        """Ray has ended the attempt: workers that have not reported are lost.

        Those of a dead node are the cause. Ray ended the others then, before they could report. Ray may need a while
        to see that a node is dead, and start all again before.
        """
        missing = [rank for rank in range(len(self.hosts)) if rank not in self.outcomes]
        on_dead_nodes = {rank for rank in missing if self._nodes.get(rank) not in living_nodes}
        for rank in missing:
            is_cause = rank in on_dead_nodes or not on_dead_nodes
            self.outcomes[rank] = WorkerOutcome(
                rank=rank,
                code=-signal.SIGKILL,
                ended_at=time.monotonic(),
                stop_requested=not is_cause,
                description=f"was lost with its {'node' if rank in on_dead_nodes else 'Ray worker'}"
                if is_cause
                else "",
            )

    def headline(self, cause: FailureCause) -> str:
        """The cause in one line."""
        return headline(cause, self._plan)

    def describe(self, cause: FailureCause) -> str:
        """All that is known of the failure."""
        return describe_failure(cause, self._plan, self._sorted_outcomes, num_oom_kills=0)

    @property
    def _sorted_outcomes(self) -> Sequence[WorkerOutcome]:
        return [self.outcomes[rank] for rank in sorted(self.outcomes)]
