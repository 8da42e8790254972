"""The training loop of `torch_workers.py` with `torch.compile` and other faster, non-default settings."""

from __future__ import annotations

from _cases import Workload
from _protocol import Train
from _steps import rounds_of
from _worker_processes import serve_workers

from contenders.torch_workers import new_loop


def contender(workload: Workload) -> Train:
    return rounds_of(workload, new_loop(workload, tuned=True))


if __name__ == "__main__":
    serve_workers(contender)
