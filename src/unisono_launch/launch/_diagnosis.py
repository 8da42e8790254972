"""Which worker caused a failure: of many that ended badly, the one that its peers only followed.

When a JAX worker dies, its peers die too, within 0.1 to 0.4 s: with an exception about a closed connection, or aborted
by the coordination service. The order of their ends is the first evidence. It can be wrong by a little, since the
kernel closes a process's connections before it reports its end, and GPU drivers take their time in between. So what the
workers wrote counts before when they ended.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from unisono_launch.launch._traceback import last_lines, last_traceback
from unisono_launch.worker import ExitCode

# What a worker writes that has lost a peer. Seen with JAX 0.10.2 and gloo; NCCL's as it documents them.
_LOST_PEER: Final = re.compile(
    r"JAX distributed service detected fatal errors|Failed to send RPC to coordination service"
    r"|Gloo .*failed|gloo/transport|Connection (?:closed|reset) by peer|Socket closed"
    r"|heartbeat|ncclRemoteError|ncclSystemError|NCCL .*(?:remote|connection)",
    re.IGNORECASE,
)
_HEARTBEAT: Final = re.compile(r"heartbeat", re.IGNORECASE)
# "The following tasks are unhealthy (stopped sending heartbeats):\n1\n", and older: "/job:jax_worker/replica:0/task:1"
_NAMED_PEER: Final = re.compile(r"stopped sending heartbeats\):\s*(\d+)|/task:(\d+)")
_CRASHES: Final = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL)


@dataclass(frozen=True, kw_only=True)
class WorkerOutcome:
    """What is known of one worker after an attempt.

    >>> WorkerOutcome(rank=1, code=-9, ended_at=0.0).ended_by
    'SIGKILL'
    """

    rank: int
    code: int
    """Its exit code; -9 if signal 9 ended it."""
    ended_at: float
    """When it ended, or reported that it failed."""
    stop_requested: bool = False
    """It ended because the launcher asked it to stop."""
    suspended: bool = False
    """It was held by SIGSTOP when its peers failed."""
    outlasted_peers: bool = False
    """It was still there when its peers had had time to end."""
    errors: str = ""
    """The end of its standard error."""
    description: str = ""
    """What it did, where its code does not say it: "was lost with its machine"."""

    @property
    def ended_by(self) -> str:
        """Its exit code or signal, in words."""
        return f"exit code {self.code}" if self.code >= 0 else _signal_name(-self.code)

    @property
    def is_secondary(self) -> bool:
        """Whether its standard error blames a lost peer."""
        if self.code == ExitCode.LOST:
            return True
        if self.code == -signal.SIGABRT:
            return bool(_LOST_PEER.search(self.errors))
        return self.code > 0 and bool(_LOST_PEER.search(last_traceback(self.errors) or last_lines(self.errors)))


@dataclass(frozen=True, kw_only=True)
class FailureCause:
    """Why an attempt failed."""

    code: int
    """What the launcher ends with, if it does not try again."""
    rank: int
    """The worker that caused it, as far as that is known."""
    what: str
    """What it did: "was killed by SIGKILL"."""
    witness: WorkerOutcome | None
    """The worker whose standard error says more."""

    @property
    def is_loss(self) -> bool:
        """Whether a worker was lost, and it is known which: killed, crashed or stuck. Not one that failed or left."""
        if self.code not in (ExitCode.LOST, ExitCode.STUCK):
            return False
        return self.witness is None or self.witness.rank != self.rank or not self.witness.is_secondary

    @property
    def is_elsewhere(self) -> bool:
        """Whether all that is known is that a peer was lost: a worker of another machine may have failed first."""
        return self.code == ExitCode.LOST and self.witness is not None and self.witness.is_secondary


def find_cause(outcomes: Sequence[WorkerOutcome]) -> FailureCause | None:
    """The cause of the failure; None if all workers ended well.

    >>> victim = WorkerOutcome(rank=0, code=1, ended_at=5.0, errors="Gloo all-reduce failed: Connection closed by peer")
    >>> find_cause([victim, WorkerOutcome(rank=1, code=-9, ended_at=5.1)]).what
    'was killed by SIGKILL'
    """
    suspended = [outcome for outcome in outcomes if outcome.suspended]
    if suspended:
        return FailureCause(code=ExitCode.STUCK, rank=suspended[0].rank, what="was stopped (SIGSTOP)", witness=None)
    failed = sorted(
        (outcome for outcome in outcomes if outcome.code != 0 and not outcome.stop_requested),
        key=lambda outcome: (outcome.is_secondary, outcome.ended_at),
    )
    if not failed:
        return None
    first = failed[0]
    if first.is_secondary:
        return _find_blamed_peer(failed, outcomes)
    if first.description:
        code = first.code if first.code == ExitCode.PREEMPTED else ExitCode.LOST
        return FailureCause(code=code, rank=first.rank, what=first.description, witness=None)
    if first.code < 0:
        what = f"{'crashed with' if -first.code in _CRASHES else 'was killed by'} {first.ended_by}"
        return FailureCause(code=ExitCode.LOST, rank=first.rank, what=what, witness=first)
    if first.code == ExitCode.PREEMPTED:
        what = f"asked to be restarted (exit code {first.code})"
        return FailureCause(code=first.code, rank=first.rank, what=what, witness=None)
    return FailureCause(code=first.code, rank=first.rank, what=f"failed with {first.ended_by}", witness=first)


def _find_blamed_peer(secondary: Sequence[WorkerOutcome], outcomes: Sequence[WorkerOutcome]) -> FailureCause:
    """The cause when every worker that failed blames a lost peer."""
    first = secondary[0]
    lost_heartbeats = any(_HEARTBEAT.search(outcome.errors) for outcome in secondary)
    outlasting = [outcome.rank for outcome in outcomes if outcome.outlasted_peers]
    named = [
        int(new or old)
        for outcome in secondary
        for new, old in _NAMED_PEER.findall(outcome.errors)
        if int(new or old) != outcome.rank
    ]
    suspects = named or (outlasting if lost_heartbeats and len(outlasting) == 1 else [])
    if not suspects:
        if first.code in (-signal.SIGABRT, ExitCode.LOST):
            what = f"ended with {first.ended_by} because it lost a peer"
            return FailureCause(code=ExitCode.LOST, rank=first.rank, what=what, witness=first)
        return FailureCause(code=first.code, rank=first.rank, what=f"failed with {first.ended_by}", witness=first)
    if suspects[0] in outlasting:
        what = "is stuck (no heartbeats, its peers say)"
        return FailureCause(code=ExitCode.STUCK, rank=suspects[0], what=what, witness=first)
    what = f"was lost, says worker {first.rank}"
    return FailureCause(code=ExitCode.LOST, rank=suspects[0], what=what, witness=first)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
