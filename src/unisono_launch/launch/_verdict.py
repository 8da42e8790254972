"""Whose fault it was: of many workers that ended badly, the one that the others only followed.

When a JAX worker dies, its peers die too, within 0.1 to 0.4 s: with an exception about a closed connection, or aborted
by the coordination service. The order of their ends is the first witness. It can be wrong by a little, since the kernel
closes a process's connections before it reports its end, and GPU drivers take their time in between. So what the
workers say counts before when they ended.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from unisono_launch.launch._traceback import last_lines, last_traceback
from unisono_launch.worker import ExitCode

# What a worker says that suffers from the loss of another. Seen with JAX 0.10.2 and gloo; NCCL's as it documents them.
_ECHO: Final = re.compile(
    r"JAX distributed service detected fatal errors|Failed to send RPC to coordination service"
    r"|Gloo .*failed|gloo/transport|Connection (?:closed|reset) by peer|Socket closed"
    r"|heartbeat|ncclRemoteError|ncclSystemError|NCCL .*(?:remote|connection)",
    re.IGNORECASE,
)
_HEARTBEAT: Final = re.compile(r"heartbeat", re.IGNORECASE)
# "The following tasks are unhealthy (stopped sending heartbeats):\n1\n", and older: "/job:jax_worker/replica:0/task:1"
_NAMED: Final = re.compile(r"stopped sending heartbeats\):\s*(\d+)|/task:(\d+)")


@dataclass(frozen=True, kw_only=True)
class Account:
    """What is known of one worker after an attempt.

    >>> Account(rank=1, code=-9, at=0.0).ended_by
    'SIGKILL'
    """

    rank: int
    code: int
    """Its exit code; -9 if signal 9 ended it."""
    at: float
    """When it ended, or said that it failed."""
    told: bool = False
    """It ended because the launcher told it to."""
    stopped: bool = False
    """It was held by SIGSTOP when its peers failed."""
    late: bool = False
    """It was still there when its peers had had time to end."""
    errors: str = ""
    """The end of its standard error."""
    instead: str = ""
    """What it did, where its code does not say it: "was lost with its machine"."""

    @property
    def ended_by(self) -> str:
        """Its exit code or signal, in words."""
        return f"exit code {self.code}" if self.code >= 0 else _signal_name(-self.code)

    @property
    def is_echo(self) -> bool:
        """Whether by its own words it only suffered from the loss of another."""
        if self.code == ExitCode.LOST:
            return True
        if self.code == -signal.SIGABRT:
            return bool(_ECHO.search(self.errors))
        return self.code > 0 and bool(_ECHO.search(last_traceback(self.errors) or last_lines(self.errors)))


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why an attempt failed."""

    code: int
    """What the launcher ends with, if it does not try again."""
    rank: int
    """The worker that did it, as far as anybody knows."""
    what: str
    """What it did: "was killed by SIGKILL"."""
    witness: Account | None
    """Whose standard error tells more."""

    @property
    def is_loss(self) -> bool:
        """Whether a worker was lost, and it is known which: killed, crashed or stuck. Not one that failed or left."""
        if self.code not in (ExitCode.LOST, ExitCode.STUCK):
            return False
        return self.witness is None or self.witness.rank != self.rank or not self.witness.is_echo


def find_cause(accounts: Sequence[Account]) -> Cause | None:
    """The cause of the failure; None if all workers ended well.

    >>> victim = Account(rank=0, code=1, at=5.0, errors="Gloo all-reduce failed: Connection closed by peer")
    >>> find_cause([victim, Account(rank=1, code=-9, at=5.1)]).what
    'was killed by SIGKILL'
    """
    stopped = [account for account in accounts if account.stopped]
    if stopped:
        return Cause(code=ExitCode.STUCK, rank=stopped[0].rank, what="was stopped (SIGSTOP)", witness=None)
    failed = sorted((a for a in accounts if a.code != 0 and not a.told), key=lambda a: (a.is_echo, a.at))
    if not failed:
        return None
    first = failed[0]
    if first.is_echo:
        return _cause_elsewhere(failed, accounts)
    if first.instead:
        code = first.code if first.code == ExitCode.PREEMPTED else ExitCode.LOST
        return Cause(code=code, rank=first.rank, what=first.instead, witness=None)
    if first.code < 0:
        crashed = -first.code in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL)
        what = f"{'crashed with' if crashed else 'was killed by'} {first.ended_by}"
        return Cause(code=ExitCode.LOST, rank=first.rank, what=what, witness=first)
    if first.code == ExitCode.PREEMPTED:
        what = f"asked to be started again (exit code {first.code})"
        return Cause(code=first.code, rank=first.rank, what=what, witness=None)
    return Cause(code=first.code, rank=first.rank, what=f"failed with {first.ended_by}", witness=first)


def _cause_elsewhere(echoes: Sequence[Account], accounts: Sequence[Account]) -> Cause:
    """All who failed speak of somebody else. Who is it?"""
    first = echoes[0]
    silent = any(_HEARTBEAT.search(echo.errors) for echo in echoes)
    late = [account.rank for account in accounts if account.late]
    named = [int(a or b) for echo in echoes for a, b in _NAMED.findall(echo.errors) if int(a or b) != echo.rank]
    suspects = named or (late if silent and len(late) == 1 else [])
    if not suspects:
        if first.code in (-signal.SIGABRT, ExitCode.LOST):
            what = f"ended with {first.ended_by}: it lost a peer that nobody names"
            return Cause(code=ExitCode.LOST, rank=first.rank, what=what, witness=first)
        return Cause(code=first.code, rank=first.rank, what=f"failed with {first.ended_by}", witness=first)
    if suspects[0] in late:
        what = "is stuck (no heartbeats, its peers say)"
        return Cause(code=ExitCode.STUCK, rank=suspects[0], what=what, witness=first)
    what = f"was lost, says worker {first.rank}"
    return Cause(code=ExitCode.LOST, rank=suspects[0], what=what, witness=first)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
