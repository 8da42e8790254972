"""Cases and targets of the benchmark of sharded state."""

from __future__ import annotations

from _cases import HAND_WRITTEN, UNISONO, Case, Target
from _transformer import ShardedWork

MODEL_PARALLEL = "keras-model-parallel"
MIRRORED = "unisono-mirrored"

# Two runs of one program differ by up to 1.05 on a quiet machine.
_TARGETS = (Target(HAND_WRITTEN, 1.05), Target(MODEL_PARALLEL, 1.05))

CASES = tuple(
    Case(
        name=f"{sharding}-{devices}",
        workload=ShardedWork(sharding=sharding, devices=devices),
        contenders=(UNISONO, MIRRORED, HAND_WRITTEN, MODEL_PARALLEL),
        targets=_TARGETS,
    )
    for sharding in ("zero3", "mesh")
    for devices in (4, 8)
)
