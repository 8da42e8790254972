"""PyTorch as an expert writes it for one GPU: the whole training step is one CUDA graph.

The graph gathers its batch by row numbers on the device, counts its own steps, and sums its metrics, so the host does
nothing but replay it.
"""

from __future__ import annotations

from collections.abc import Callable

import _data
import torch
from _cases import Workload
from _protocol import Train, serve
from torch import nn

_DEVICE = "cuda"


def contender(workload: Workload) -> Train:
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")  # TF32, which is what XLA takes for float32, too
    torch.backends.cudnn.benchmark = True
    x, y = (torch.from_numpy(array).to(_DEVICE) for array in _data.load(workload))
    if workload.network == "cnn":
        x = x.reshape(-1, 1, 28, 28)
    y = y.long()
    model = _model(workload.network)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-7, capturable=True, fused=True)
    order = torch.empty((workload.steps, workload.global_batch_size), dtype=torch.int64, device=_DEVICE)
    step_number = torch.zeros(1, dtype=torch.int64, device=_DEVICE)
    metrics = torch.zeros(2, device=_DEVICE)

    def begin_epoch() -> None:
        order.copy_(torch.randperm(workload.num_rows, device=_DEVICE).view_as(order))
        step_number.zero_()
        metrics.zero_()

    def step() -> None:
        rows = order.index_select(0, step_number).squeeze(0)
        labels = y.index_select(0, rows)
        logits = model(x.index_select(0, rows))
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        metrics.add_(torch.stack([loss.detach(), (logits.argmax(1) == labels).sum().float()]))
        step_number.add_(1)

    begin_epoch()
    graph = _Graph(step)

    def train() -> tuple[float, float]:
        for _ in range(workload.epochs):
            begin_epoch()
            for _ in range(workload.steps):
                graph.replay()
        loss, correct = metrics.tolist()
        return loss / workload.steps, correct / workload.num_rows

    return train


class _Graph:
    """A step as a CUDA graph, captured after the few runs on another stream that capturing asks for."""

    def __init__(self, step: Callable[[], None]):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            step()
        self._step = step  # the graph reads its tensors by address and does not keep them alive

    def replay(self) -> None:
        self._graph.replay()


def _model(network: str) -> nn.Module:
    dense = [nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)]
    if network == "cnn":
        dense = [nn.Flatten(), nn.Linear(13 * 13 * 32, 64), nn.ReLU(), nn.Linear(64, 10)]
        dense = [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), *dense]
    model = nn.Sequential(*dense).to(_DEVICE)
    for layer in model:
        if isinstance(layer, nn.Linear | nn.Conv2d):  # Keras's initial weights
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
    return model


if __name__ == "__main__":
    serve(contender)
