"""A launcher that is connected to no other: one machine, or several whose number is fixed."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterator
from typing import final

from unisono_launch.launch._attempt import AttemptResult
from unisono_launch.launch._context import LauncherContext
from unisono_launch.launch._events import EndingReason
from unisono_launch.launch._launcher_group import LauncherGroup
from unisono_launch.launch._plan import AttemptPlan
from unisono_launch.launch._ports import hold_free_ports, hold_next_port, hold_port, ports_of_attempt


@final
class StandaloneGroup(LauncherGroup):
    """The workers of this machine. If there are other machines, their launchers do the same by themselves."""

    def __init__(self, context: LauncherContext) -> None:
        self._context = context

    def __exit__(self, *exception: object) -> None:
        """There is nothing to close."""

    @contextlib.contextmanager
    def assemble(self, attempt: int, why: str) -> Iterator[AttemptPlan]:
        """As many workers as there may be; their ports are free ones, or by the rule that all machines follow."""
        machines = self._context.machines
        devices, num_workers = self._context.allocator.allocate()
        with contextlib.ExitStack() as held:
            if machines.master_port is None:
                ports = held.enter_context(hold_free_ports(num_workers))
            elif machines.is_single:  # no other launcher has to know the port
                first = ports_of_attempt(machines.master_port, 1, attempt)[0]
                ports = ports_of_attempt(held.enter_context(hold_next_port(first)), num_workers, 0)
            else:
                ports = ports_of_attempt(machines.master_port, num_workers, attempt)
                if machines.rank == 0:
                    held.enter_context(hold_port(ports[0]))
            yield self._context.plan(attempt, machines, devices, num_workers, tuple(ports))

    def notify_ending(self, reason: EndingReason) -> None:
        """There is no other launcher to notify."""

    def gather_results(self, plan: AttemptPlan, result: AttemptResult) -> AttemptResult:
        """The result of this machine."""
        return result

    def lost_unit(self, plan: AttemptPlan, rank: int) -> Hashable:
        """A worker, by its number and its devices."""
        return rank, plan.num_local_workers, plan.devices

    def exclude(self, plan: AttemptPlan, rank: int) -> str | None:
        """One worker fewer."""
        local_rank = rank - plan.ranks.start
        if not self._context.allocator.exclude(local_rank, plan.devices, plan.num_local_workers):
            return None
        return f"worker {rank}"

    def finish(self, code: int, why: str) -> None:
        """There is no other launcher to notify."""
