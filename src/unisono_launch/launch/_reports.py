"""How an attempt ended on one machine, told to another."""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from unisono_launch.launch._attempt import Result
from unisono_launch.launch._verdict import Account

_KEPT_ERRORS: Final = 1 << 14  # characters of a worker's standard error: its traceback is at the end


@dataclass(frozen=True, kw_only=True)
class Report:
    """What the leader learns of a member's workers."""

    accounts: tuple[Account, ...]
    reached: Mapping[str, int]
    left: signal.Signals | None
    """By which the launcher there was told to end. It takes no further part."""


def report_to_json(result: Result) -> dict[str, Any]:
    """A result, for a machine with another clock: times become ages."""
    now = time.monotonic()
    return {
        "accounts": [
            {
                "rank": account.rank,
                "code": account.code,
                "age": now - account.at if account.at < float("inf") else None,
                "told": account.told,
                "stopped": account.stopped,
                "late": account.late,
                "errors": account.errors[-_KEPT_ERRORS:],
            }
            for account in result.accounts
        ],
        "reached": dict(result.reached),
        "left": None if result.signal is None else int(result.signal),
    }


def report_from_json(told: Mapping[str, Any]) -> Report:
    """The same on the other side; raises `ValueError` if it is something else."""
    now = time.monotonic()
    try:
        return Report(
            accounts=tuple(
                Account(
                    rank=int(one["rank"]),
                    code=int(one["code"]),
                    at=float("inf") if one["age"] is None else now - float(one["age"]),
                    told=bool(one["told"]),
                    stopped=bool(one["stopped"]),
                    late=bool(one["late"]),
                    errors=str(one["errors"]),
                )
                for one in told["accounts"]
            ),
            reached={str(phase): int(step) for phase, step in told["reached"].items()},
            left=None if told["left"] is None else signal.Signals(int(told["left"])),
        )
    except (AttributeError, KeyError, OverflowError, TypeError) as error:
        raise ValueError(f"no report: {error}") from None
