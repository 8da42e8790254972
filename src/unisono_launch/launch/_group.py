"""A group: those who take part in an attempt, chosen anew before each."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Hashable
from types import TracebackType

from unisono_launch.launch._attempt import Result
from unisono_launch.launch._environment import Layout
from unisono_launch.launch._events import How


class Group(ABC):
    """Who takes part, as the launcher that counts attempts sees it. Entered for the time of the job."""

    @abstractmethod
    def __enter__(self) -> Group: ...

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    @abstractmethod
    def assembled(self, attempt: int, why: str) -> contextlib.AbstractContextManager[Layout]:
        """The plan of an attempt, its ports held; raises :class:`TooFewError`, or :class:`AskedToEndError`.

        Args:
            attempt: its number.
            why: how the attempt before it ended; empty if it is the first.
        """

    @abstractmethod
    def notify(self, how: How) -> None:
        """The attempt is ending on this machine."""

    @abstractmethod
    def completed(self, layout: Layout, result: Result) -> Result:
        """How the attempt ended on all machines that this launcher speaks for, given how it ended on this one."""

    @abstractmethod
    def unit(self, layout: Layout, rank: int) -> Hashable:
        """What is left out if the worker `rank` is lost for good: it, or its machine; the same in the next attempt."""

    @abstractmethod
    def leave_out(self, layout: Layout, rank: int) -> str | None:
        """Goes on without it; returns what it is called, None if the group cannot do without."""

    @abstractmethod
    def dismiss(self, code: int, why: str) -> None:
        """The job has ended, on all machines with this code."""
