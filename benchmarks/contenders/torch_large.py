"""PyTorch with `torch.compile` on one GPU, as an expert writes it.

The networks compute what those of `_keras_large` do, and their weights are drawn as Keras draws them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from _large_models import LENGTH, NUM_CLASSES, VOCABULARY, LargeWork, load
from _protocol import Round, serve_rounds
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

_WIDTH, _HEADS, _DEPTH = 768, 12, 12
_DEVICE = "cuda"

Batches = Callable[[], Iterator[tuple[Any, Any]]]


def serve_torch(*, with_loader: bool) -> None:
    def contender() -> Round:
        torch.manual_seed(1)
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.benchmark = True
        work = LargeWork.from_json(sys.argv[1])
        batches = _loaded(work) if with_loader else _resident(work)
        step = _resnet50_step() if work.network == "resnet50" else _gpt2_step()
        epochs = work.epochs_by_round()

        def train() -> dict[str, float]:
            torch.cuda.reset_peak_memory_stats()
            for _ in range(next(epochs)):
                total = torch.zeros((), device=_DEVICE)
                for x, y in batches():
                    total += step(x, y)
            return {"loss": total.item() / work.steps, "peak_bytes": float(torch.cuda.max_memory_allocated())}

        return train

    serve_rounds(contender)


def _resident(work: LargeWork) -> Batches:
    """Batches of data that is on the device before the first round."""
    x, y = (torch.from_numpy(array).to(_DEVICE) for array in load(work))

    def batches() -> Iterator[tuple[Any, Any]]:
        for rows in torch.randperm(len(x), device=_DEVICE).view(work.steps, work.rows):
            yield x[rows], y[rows]

    return batches


def _loaded(work: LargeWork) -> Batches:
    data = TensorDataset(*map(torch.from_numpy, load(work)))
    loader: Any = DataLoader(
        data, work.rows, shuffle=True, num_workers=8, pin_memory=True, persistent_workers=True, drop_last=True
    )

    def batches() -> Iterator[tuple[Any, Any]]:
        for x, y in loader:
            yield x.to(_DEVICE, non_blocking=True), y.to(_DEVICE, non_blocking=True)

    return batches


def _resnet50_step() -> Callable[[Any, Any], Any]:
    import torchvision  # only this network needs it

    model = torchvision.models.resnet50(num_classes=NUM_CLASSES)
    for block in model.modules():
        # torchvision has the stride of a block in its 3x3 convolution, Keras in the 1x1 convolution before it, as the
        # paper has: 3.86 instead of 4.09 GFLOPs (multiply and add counted as one) per image.
        if isinstance(block, torchvision.models.resnet.Bottleneck):
            block.conv1.stride, block.conv2.stride = block.conv2.stride, block.conv1.stride
    model = model.to(_DEVICE, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, fused=True)

    def loss_of(x: Any, y: Any) -> Any:
        images = x.permute(0, 3, 1, 2).to(torch.bfloat16) / 127.5 - 1  # the rows are channels last already
        with torch.autocast(_DEVICE, torch.bfloat16):
            return functional.cross_entropy(model(images), y.long())

    return _step(loss_of, optimizer)


def _gpt2_step() -> Callable[[Any, Any], Any]:
    model = _GPT().to(_DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, eps=1e-7, fused=True)

    def loss_of(x: Any, y: Any) -> Any:
        with torch.autocast(_DEVICE, torch.bfloat16):
            return functional.cross_entropy(model(x).view(-1, VOCABULARY), y.long().reshape(-1))

    return _step(loss_of, optimizer)


def _step(loss_of: Callable[[Any, Any], Any], optimizer: Any) -> Callable[[Any, Any], Any]:
    compiled = torch.compile(loss_of)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad(set_to_none=True)
        loss = compiled(x, y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


class _GPT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, _WIDTH)
        self.positions = nn.Parameter(torch.empty(LENGTH, _WIDTH))
        self.blocks = nn.ModuleList([_Block() for _ in range(_DEPTH)])
        self.norm = _new_norm()
        self.logits = nn.Linear(_WIDTH, VOCABULARY, bias=False)
        for embedding in (self.tokens.weight, self.positions):
            nn.init.uniform_(embedding, -0.05, 0.05)
        nn.init.xavier_uniform_(self.logits.weight)

    def forward(self, x: Any) -> Any:
        hidden = self.tokens(x) + self.positions
        for block in self.blocks:
            hidden = block(hidden)
        return self.logits(self.norm(hidden))


class _Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = _new_norm(), _new_norm()
        self.qkv, self.out = nn.Linear(_WIDTH, 3 * _WIDTH), nn.Linear(_WIDTH, _WIDTH)
        self.up, self.down = nn.Linear(_WIDTH, 4 * _WIDTH), nn.Linear(4 * _WIDTH, _WIDTH)
        for layer in (self.qkv, self.out, self.up, self.down):
            nn.init.zeros_(layer.bias)
        limit = (3 / _WIDTH) ** 0.5  # of three products with as many inputs as outputs each
        nn.init.uniform_(self.qkv.weight, -limit, limit)
        for layer in (self.out, self.up, self.down):
            nn.init.xavier_uniform_(layer.weight)

    def forward(self, hidden: Any) -> Any:
        rows, length, _ = hidden.shape
        qkv = self.qkv(self.norm1(hidden)).view(rows, length, 3, _HEADS, _WIDTH // _HEADS)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        hidden = hidden + self.out(mixed.transpose(1, 2).reshape(rows, length, _WIDTH))
        return hidden + self.down(functional.gelu(self.up(self.norm2(hidden))))


def _new_norm() -> nn.LayerNorm:
    return nn.LayerNorm(_WIDTH, eps=1e-3)


if __name__ == "__main__":
    serve_torch(with_loader=False)
