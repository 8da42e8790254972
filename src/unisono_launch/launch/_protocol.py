"""What the launchers of an elastic job (`--nnodes MIN:MAX`) say to each other, as JSON messages over TCP.

    coordinator launcher                       joining launcher
    challenge: nonce                    ──>
                                        <──    hello: node, host, workers, nonce, proof
    welcome: proof  (or refused: why)   ──>
    go: attempt, why, rank, hosts, ports ─>                                              before each attempt
                                        <──    ending: attempt, how                      as soon as a worker fails
    end: attempt, how                   ──>                                              if one fails elsewhere
                                        <──    ended: attempt, accounts, reached, left   when no worker is left
    over: code, why                     ──>                                              the job has ended
    beat                                <─>                                              every two seconds

A job may have a secret (`connection/_secret.py`). A launcher without it can neither join nor coordinate. The messages
are not encrypted; nothing in them is secret.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from unisono_launch.connection import is_proof
from unisono_launch.launch._attempt import AttemptResult
from unisono_launch.launch._diagnosis import WorkerOutcome

VERSION: Final = 2
BEAT_SECONDS: Final = 2.0
SILENCE_SECONDS: Final = 20.0
"""A peer that sends nothing for so long is gone, even if the connection is open: its machine is off, or it hangs."""

SUSPENDED_SECONDS: Final = 5.0
"""A thread that slept for longer than this was suspended itself: the peers are not to blame for the silence."""

FAREWELL_SECONDS: Final = 2.0
"""How long a launcher waits for its peers to read its last message."""

_MAX_ERRORS: Final = 1 << 14  # characters of a worker's standard error: its traceback is at the end


@dataclass(frozen=True, kw_only=True)
class JoinRequirements:
    """What the launchers of a job must have in common.

    >>> requirements = JoinRequirements(nnodes="1:3", max_machines=3, num_local_workers=2, secret="")
    >>> requirements.find_mismatch(
    ...     {"type": "hello", "version": 2, "node": 1, "nnodes": "1:3", "workers": 4, "nonce": "5f"}
    ... )
    '4 workers there and 2 here. Give the same -n on all machines.'
    """

    nnodes: str
    max_machines: int
    """The coordinator's included."""
    num_local_workers: int
    """On each machine."""
    secret: str
    """Empty: there is none."""

    def proves_secret(self, hello: Mapping[str, Any], challenge: str) -> bool:
        """Whether the sender of this hello knows the secret, if there is one."""
        return is_proof(hello.get("proof"), self.secret, "joining launcher", challenge, hello.get("nonce"))

    def find_mismatch(self, hello: Mapping[str, Any]) -> str | None:
        """Why the sender of this hello cannot take part; None if it can."""
        if hello.get("type") != "hello" or hello.get("version") != VERSION or not isinstance(hello.get("nonce"), str):
            return f"launchers of this job speak version {VERSION} of Unisono's protocol."
        node = hello.get("node")
        if not isinstance(node, int) or not 0 < node < self.max_machines:
            return f"there is no machine {node}. Give --node-rank 1 to {self.max_machines - 1}."
        if (nnodes := hello.get("nnodes")) != self.nnodes:
            return f"--nnodes is {nnodes} there and {self.nnodes} here. Give the same on all machines."
        if (workers := hello.get("workers")) != self.num_local_workers:
            return f"{workers} workers there and {self.num_local_workers} here. Give the same -n on all machines."
        return None


@dataclass(frozen=True, kw_only=True)
class MachineReport:
    """How an attempt ended on another machine."""

    outcomes: tuple[WorkerOutcome, ...]
    reached: Mapping[str, int]
    left: signal.Signals | None
    """By which the launcher there was asked to stop. It takes no further part."""


def report_to_json(result: AttemptResult) -> dict[str, Any]:
    """A result, for a machine with another clock: times become ages."""
    now = time.monotonic()
    return {
        "accounts": [
            {
                "rank": outcome.rank,
                "code": outcome.code,
                "age": now - outcome.ended_at if outcome.ended_at < float("inf") else None,
                "stop_requested": outcome.stop_requested,
                "stopped": outcome.suspended,
                "late": outcome.outlasted_peers,
                "errors": outcome.errors[-_MAX_ERRORS:],
            }
            for outcome in result.outcomes
        ],
        "reached": dict(result.reached),
        "left": None if result.signal is None else int(result.signal),
    }


def report_from_json(message: Mapping[str, Any]) -> MachineReport:
    """The report in a message; raises `ValueError` if there is none."""
    now = time.monotonic()
    try:
        return MachineReport(
            outcomes=tuple(
                WorkerOutcome(
                    rank=int(one["rank"]),
                    code=int(one["code"]),
                    ended_at=float("inf") if one["age"] is None else now - float(one["age"]),
                    stop_requested=bool(one["stop_requested"]),
                    suspended=bool(one["stopped"]),
                    outlasted_peers=bool(one["late"]),
                    errors=str(one["errors"]),
                )
                for one in message["accounts"]
            ),
            reached={str(phase): int(step) for phase, step in message["reached"].items()},
            left=None if message["left"] is None else signal.Signals(int(message["left"])),
        )
    except (AttributeError, KeyError, OverflowError, TypeError) as error:
        raise ValueError(f"no report: {error}") from None
