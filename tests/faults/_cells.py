"""The table of faults: what happens, when, and to which process. One job for each of its cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from tests.faults._jobs import Job

KINDS: Final = ("SIGKILL", "SIGTERM", "SIGSTOP", "exception", "full disk")

MOMENTS: Final = (
    "compiling",
    "in a step",
    "in validation",
    "copying",
    "writing",
    "before the rename",
    "after the rename",
    "deleting",
    "at the end of training",
    "at exit",
)

_CHIEFS: Final = ("copying", "writing", "before the rename", "after the rename", "deleting")

VICTIMS: Final = {
    "process": Job(data="rows"),
    "process with many steps per call": Job(data="stream", steps_per_call=4, save_every=6),
    # Workers exchange their signals once a second: the job has to last that long.
    "worker 0": Job(workers=2, data="arrays", step_seconds=0.15),
    "worker 1": Job(workers=2, data="arrays", step_seconds=0.15),
    "launcher": Job(workers=2, data="arrays", step_seconds=0.15),
    "sharded worker 0": Job(workers=2, data="arrays", step_seconds=0.15, shard="zero3"),
    "sharded worker 1": Job(workers=2, data="arrays", step_seconds=0.15, shard="zero3"),
    "ZeRO-1 worker 1": Job(workers=2, data="arrays", step_seconds=0.15, shard="zero1"),
    "mesh worker 0": Job(workers=2, data="arrays", step_seconds=0.15, shard="mesh"),
}
"""The process that it happens to, and the job that it happens in."""


@dataclass(frozen=True)
class Fault:
    """The fault that `scripts/train.py` causes."""

    kind: str
    moment: str
    victim: str

    @property
    def id(self) -> str:
        return "-".join((self.kind, self.moment, self.victim)).replace(" ", "_")

    @property
    def job(self) -> Job:
        job = VICTIMS[self.victim]
        return replace(job, max_restarts=1) if self.kind == "full disk" else job  # a restart alone does not help


def _exists(fault: Fault) -> bool:
    if fault.victim == "worker 1":
        return fault.moment not in _CHIEFS  # it neither copies nor writes
    if fault.victim.startswith("sharded"):
        is_chiefs = fault.moment in ("before the rename", "after the rename", "deleting")
        if is_chiefs and fault.victim == "sharded worker 1":
            return False  # it copies and writes its part, and the chief completes the checkpoint
        return fault.kind in ("SIGKILL", "SIGTERM") or fault.moment == "writing"
    if fault.victim in ("ZeRO-1 worker 1", "mesh worker 0"):  # they differ from the above in what each worker writes
        return fault.kind in ("SIGKILL", "SIGTERM") and fault.moment in ("in a step", "writing")
    if fault.victim == "launcher":
        return fault.kind.startswith("SIG")  # the script cannot make it raise, and the disk is the workers' too
    if fault.victim == "process with many steps per call":
        return fault.kind in ("SIGKILL", "SIGTERM")
    return True


CELLS: Final = [
    fault for victim in VICTIMS for kind in KINDS for moment in MOMENTS if _exists(fault := Fault(kind, moment, victim))
]

QUICK: Final = [
    Fault("SIGKILL", "writing", "process"),
    Fault("SIGKILL", "in a step", "worker 1"),
]
"""Those that run by default. All of them take the better part of an hour."""
