"""A training loop under a Unisono strategy, its step a `unisono.function`."""

from __future__ import annotations

from _cases import Workload
from _steps import Loop, serve_steps

import unisono
from contenders._keras_loop import distributed_loop


def contender(workload: Workload, *, eager: bool = False) -> Loop:
    strategy = unisono.MirroredStrategy([f"{workload.platform}:{i}" for i in range(workload.replicas)])
    return distributed_loop(unisono, strategy, workload, eager=eager)


if __name__ == "__main__":
    serve_steps(contender)
