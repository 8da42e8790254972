"""A training loop in PyTorch: `DistributedDataParallel` over gloo, eager."""

from __future__ import annotations

import _data
import torch
from _cases import Workload
from _protocol import Train
from _reference import initial_weights
from _steps import Loop, rounds_of
from _worker_processes import serve_workers
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel


def contender(workload: Workload) -> Train:
    return rounds_of(workload, new_loop(workload))


def new_loop(workload: Workload, *, tuned: bool = False) -> Loop:
    """The loop of PyTorch's guides. Losses and counts are summed over the workers when they are read."""
    torch.set_num_threads(1)  # as torchrun does where it starts several workers
    distributed.init_process_group("gloo")
    model = DistributedDataParallel(_new_model(), gradient_as_bucket_view=tuned)
    forward = torch.compile(model) if tuned else model
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-7, fused=tuned)  # Keras's epsilon
    loss_of = nn.CrossEntropyLoss()
    correct, rows = torch.zeros((), dtype=torch.int64), 0

    def step(batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        nonlocal rows
        x, y = batch
        optimizer.zero_grad()
        logits = forward(x)
        loss = loss_of(logits, y)
        loss.backward()
        optimizer.step()
        correct.add_((logits.argmax(1) == y).sum())
        rows += len(y)
        return loss.detach()

    return Loop(step, _batches(workload), lambda: _mean_over_workers(correct / rows), _mean_over_workers, "torch")


def _batches(workload: Workload) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """This worker's rows of each global batch."""
    worker, workers = distributed.get_rank(), distributed.get_world_size()
    x, y = (array.reshape(workload.steps, workers, -1, *array.shape[1:]) for array in _data.load(workload))
    return [(torch.tensor(x[step, worker]), torch.tensor(y[step, worker]).long()) for step in range(workload.steps)]


def _new_model() -> nn.Module:
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    with torch.no_grad():
        for parameter, weight in zip(model.parameters(), initial_weights(), strict=True):
            parameter.copy_(torch.from_numpy(weight.T))
    return model


def _mean_over_workers(value: torch.Tensor) -> float:
    total = value.clone()
    distributed.all_reduce(total)
    return float(total) / distributed.get_world_size()


if __name__ == "__main__":
    serve_workers(contender)
