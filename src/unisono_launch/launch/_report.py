"""What the user reads after a failure: who caused it, what followed, and the cause's own words last."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from unisono_launch.launch._attempt import Result
from unisono_launch.launch._environment import Layout
from unisono_launch.launch._traceback import last_lines, last_traceback
from unisono_launch.launch._verdict import Account, Cause
from unisono_launch.worker import FAILED, read_status


def headline(cause: Cause, layout: Layout) -> str:
    """The cause in one line: "worker 1 on hosta was killed by SIGKILL at step 120 (fit)"."""
    names = layout.machines.names(layout.local_size)
    if cause.rank >= len(names):  # peers name a worker that is none of ours
        return f"worker {cause.rank} {cause.what}"
    status = read_status(layout.status(cause.rank))
    if status is None:
        return f"{names[cause.rank]} {cause.what}"
    phase = "" if status.phase == FAILED else f" ({status.phase})"
    return f"{names[cause.rank]} {cause.what} at step {status.step}{phase}"


def report(cause: Cause, layout: Layout, result: Result, *, ooms: int) -> str:
    """The whole story, its most telling part at the end."""
    lines = [f"unisono: {headline(cause, layout)}."]
    if cause.witness is not None and cause.witness.code == -signal.SIGKILL and ooms > 0:
        lines.append(f"  Linux killed {ooms} process(es) for lack of memory meanwhile: this may be one of them.")
    others = [_fate(account) for account in result.accounts if account.rank != cause.rank]
    if others:
        lines.append(f"  The others: {'; '.join(others)}.")
    teller = cause.rank if cause.witness is None else cause.witness.rank
    if any(account.rank == teller for account in result.accounts):
        lines.append(f"  Log: {short(layout.log(teller))}")
    # The words of an only worker are what stands above, as it wrote them.
    return "\n".join([*lines, *(_words(cause) if layout.num_workers > 1 else [])])


def short(path: Path) -> str:
    """The path as one would type it here."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def num_ooms(vmstat: Path = Path("/proc/vmstat")) -> int:
    """How many processes Linux has killed for lack of memory since it started."""
    try:
        counters = dict(line.split() for line in vmstat.read_text().splitlines())
    except (OSError, ValueError):
        return 0
    return int(counters.get("oom_kill", 0))


def _fate(account: Account) -> str:
    if account.told:
        return f"worker {account.rank} was told to end ({account.ended_by})"
    return f"worker {account.rank} ended with {account.ended_by}"


def _words(cause: Cause) -> list[str]:
    """The traceback of who knows most, else the last lines."""
    if cause.witness is None or not cause.witness.errors.strip():
        return []
    traceback = last_traceback(cause.witness.errors)
    title = "Its traceback:" if traceback else "Its last words:"
    if cause.rank != cause.witness.rank:
        title = f"What worker {cause.witness.rank} says of it:"
    words = traceback or last_lines(cause.witness.errors)
    return [f"  {title}", *(f"    {line}" for line in words.splitlines())]
