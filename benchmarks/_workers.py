"""Cases and targets of the benchmark of several worker processes."""

from __future__ import annotations

from _cases import TENSORFLOW, TORCH, UNISONO, Case, Target, Workload

UNISONO_FIT = "unisono-fit"
TORCH_TUNED = "torch-tuned"


def _two_workers(global_batch_size: int, *, steps: int) -> Case:
    return Case(
        name=str(global_batch_size),
        workload=Workload(
            network="mlp",
            platform="cpu",
            replicas=2,
            global_batch_size=global_batch_size,
            steps=steps,
            epochs=1,
            workers=2,
        ),
        contenders=(UNISONO, UNISONO_FIT, TENSORFLOW, TORCH, TORCH_TUNED),
        targets=(
            Target(TENSORFLOW, 1),
            Target(TORCH, 1),
            Target(TORCH_TUNED, 1),
            Target(TORCH_TUNED, 1, contender=UNISONO_FIT),
        ),
    )


CASES = (_two_workers(32, steps=600), _two_workers(256, steps=200))
