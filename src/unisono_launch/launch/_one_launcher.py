"""The group of a launcher that talks to no other: one machine, or several whose number is fixed."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterator
from types import TracebackType
from typing import final

from unisono_launch.launch._attempt import Result
from unisono_launch.launch._environment import Layout
from unisono_launch.launch._events import How
from unisono_launch.launch._group import Group
from unisono_launch.launch._here import Here
from unisono_launch.launch._ports import free_ports, ports_of_attempt, this_port


@final
class OneLauncher(Group):
    """The workers of this machine. If there are other machines, their launchers do the same by themselves."""

    def __init__(self, here: Here) -> None:
        self._here = here

    def __enter__(self) -> OneLauncher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    @contextlib.contextmanager
    def assembled(self, attempt: int, why: str) -> Iterator[Layout]:
        """As many workers as there may be; their ports are free ones, or by the rule that all machines know."""
        machines = self._here.machines
        devices, size = self._here.workforce.muster()
        with contextlib.ExitStack() as held:
            if machines.port is None:
                ports = held.enter_context(free_ports(size))
            else:
                ports = ports_of_attempt(machines.port, size, attempt)
                if machines.rank == 0:
                    held.enter_context(this_port(ports[0]))
            yield self._here.layout(attempt, machines, devices, size, tuple(ports))

    def notify(self, how: How) -> None:
        """Nobody to tell."""

    def completed(self, layout: Layout, result: Result) -> Result:
        """What is known here is all."""
        return result

    def unit(self, layout: Layout, rank: int) -> Hashable:
        """A worker, by its number and its devices."""
        return rank, layout.local_size, layout.devices

    def leave_out(self, layout: Layout, rank: int) -> str | None:
        """One worker fewer."""
        if not self._here.workforce.lose(rank - layout.ranks.start, layout.devices, layout.local_size):
            return None
        return f"worker {rank}"

    def dismiss(self, code: int, why: str) -> None:
        """Nobody to tell."""
