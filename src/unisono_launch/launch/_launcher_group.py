"""Which machines and workers take part in an attempt, chosen before each: the interface of all kinds of groups."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Hashable

from unisono_launch.launch._attempt import AttemptResult
from unisono_launch.launch._events import EndingReason
from unisono_launch.launch._plan import AttemptPlan


class LauncherGroup(contextlib.AbstractContextManager["LauncherGroup"]):
    """The launchers that this one, which counts attempts, decides for. Entered for the time of the job."""

    @abstractmethod
    def assemble(self, attempt: int, why: str) -> contextlib.AbstractContextManager[AttemptPlan]:
        """The plan of an attempt, its ports held; raises :class:`UsageError`, or :class:`StopRequestedError`.

        Args:
            attempt: its number.
            why: how the attempt before it ended; empty if it is the first.
        """

    @abstractmethod
    def notify_ending(self, reason: EndingReason) -> None:
        """The attempt is ending on this machine."""

    @abstractmethod
    def gather_results(self, plan: AttemptPlan, result: AttemptResult) -> AttemptResult:
        """How the attempt ended on all machines of the group, given how it ended on this one."""

    @abstractmethod
    def lost_unit(self, plan: AttemptPlan, rank: int) -> Hashable:
        """What is excluded if the worker `rank` is lost permanently: it, or its machine. Equal in every attempt."""

    @abstractmethod
    def exclude(self, plan: AttemptPlan, rank: int) -> str | None:
        """Leaves it out of the next attempts; returns its name, None if the group cannot do without it."""

    @abstractmethod
    def finish(self, code: int, why: str) -> None:
        """The job has ended, on all machines with this code."""
