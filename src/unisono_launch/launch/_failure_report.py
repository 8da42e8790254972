"""What the user reads after a failure: which worker caused it, what followed, and the traceback last."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from unisono_launch.launch._diagnosis import FailureCause, WorkerOutcome
from unisono_launch.launch._plan import AttemptPlan
from unisono_launch.launch._traceback import last_lines, last_traceback
from unisono_launch.worker import FAILED, read_status


def headline(cause: FailureCause, plan: AttemptPlan) -> str:
    """The cause in one line: "worker 1 on hosta was killed by SIGKILL at step 120 (fit)"."""
    names = plan.machines.worker_names(plan.num_local_workers)
    if cause.rank >= len(names):  # peers name a worker that is none of ours
        return f"worker {cause.rank} {cause.what}"
    status = read_status(plan.status_file(cause.rank))
    if status is None:
        return f"{names[cause.rank]} {cause.what}"
    phase = "" if status.phase == FAILED else f" ({status.phase})"
    return f"{names[cause.rank]} {cause.what} at step {status.step}{phase}"


def describe_failure(
    cause: FailureCause, plan: AttemptPlan, outcomes: Sequence[WorkerOutcome], *, num_oom_kills: int
) -> str:
    """All that is known of a failure, its most telling part at the end."""
    lines = [f"unisono: {headline(cause, plan)}."]
    if cause.witness is not None and cause.witness.code == -signal.SIGKILL and num_oom_kills > 0:
        lines.append(
            f"  Linux killed {num_oom_kills} process(es) for lack of memory meanwhile: this may be one of them."
        )
    peers = [_describe_end(outcome) for outcome in outcomes if outcome.rank != cause.rank]
    if peers:
        lines.append(f"  Its peers: {'; '.join(peers)}.")
    witness = cause.rank if cause.witness is None else cause.witness.rank
    if any(outcome.rank == witness for outcome in outcomes):
        lines.append(f"  Log: {shorten_path(plan.log_file(witness))}")
    if cause.witness is not None and "No module named 'tensorflow'" in cause.witness.errors:
        lines.append("  TensorFlow is not needed to run a script that is written for it: unisono run --as-tensorflow …")
    # The output of a job's only worker is on the screen already, as it wrote it.
    return "\n".join([*lines, *(_quote_errors(cause) if plan.num_workers > 1 else [])])


def shorten_path(path: Path) -> str:
    """The path as one would type it here."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def count_oom_kills(vmstat: Path = Path("/proc/vmstat")) -> int:
    """How many processes Linux has killed for lack of memory since it started."""
    try:
        counters = dict(line.split() for line in vmstat.read_text().splitlines())
    except (OSError, ValueError):
        return 0
    return int(counters.get("oom_kill", 0))


def _describe_end(outcome: WorkerOutcome) -> str:
    if outcome.stop_requested:
        return f"worker {outcome.rank} was asked to stop ({outcome.ended_by})"
    return f"worker {outcome.rank} ended with {outcome.ended_by}"


def _quote_errors(cause: FailureCause) -> list[str]:
    """The traceback of the worker that knows most, else its last lines."""
    if cause.witness is None or not cause.witness.errors.strip():
        return []
    traceback = last_traceback(cause.witness.errors)
    title = "Its traceback:" if traceback else "Its last output:"
    if cause.rank != cause.witness.rank:
        title = f"What worker {cause.witness.rank} says of it:"
    quoted = traceback or last_lines(cause.witness.errors)
    return [f"  {title}", *(f"    {line}" for line in quoted.splitlines())]
