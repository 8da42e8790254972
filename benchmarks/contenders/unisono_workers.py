"""The training loop of `unisono_loop.py` in several processes."""

from __future__ import annotations

from _cases import Workload
from _protocol import Train
from _steps import rounds_of
from _worker_processes import serve_workers

import unisono
from contenders._keras_loop import distributed_loop


def contender(workload: Workload) -> Train:
    strategy = unisono.MultiWorkerMirroredStrategy()
    return rounds_of(workload, distributed_loop(unisono, strategy, workload))


if __name__ == "__main__":
    serve_workers(contender)
