"""The training loop that `torch_workers.py` is, with `torch.compile` and what else is quicker and not the default."""

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
