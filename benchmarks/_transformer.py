"""The transformer of the benchmark of sharded state: its weights, its tokens, and how its weights are sharded.

NumPy only. All contenders begin with these weights and shard them in the same way.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]
Axes = tuple[str | None, ...]


@dataclass(frozen=True, kw_only=True)
class ShardedWork:
    """Training of a decoder on several devices.

    Attributes:
        sharding: "zero3" divides every matrix among all devices, which divide the rows too; in "mesh" two groups of
            devices divide the rows, and the devices of a group the heads, the units and the vocabulary.
        devices: the number of devices.
        steps: steps of a round.
    """

    sharding: Literal["zero3", "mesh"]
    devices: int
    steps: int = 10
    rows: int = 16
    length: int = 64
    width: int = 128
    heads: int = 4
    depth: int = 6
    vocabulary: int = 1024
    platform: Literal["cpu"] = "cpu"

    @property
    def devices_per_process(self) -> int:
        return self.devices

    @property
    def steps_per_round(self) -> int:
        return self.steps

    @property
    def mesh(self) -> dict[str, int]:
        return {"batch": self.devices} if self.sharding == "zero3" else {"batch": 2, "model": self.devices // 2}

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ShardedWork:
        return cls(**json.loads(text))


def weight_shapes(work: ShardedWork) -> dict[str, tuple[int, ...]]:
    """The shapes of the weights by the paths that Keras gives them, in the order of `model.get_weights()`."""
    width, heads, size = work.width, work.heads, work.width // work.heads
    shapes: dict[str, tuple[int, ...]] = {"tokens/embeddings": (work.vocabulary, width)}
    for index in range(work.depth):
        block = f"block{index}"
        shapes |= {f"{block}_norm1/{name}": (width,) for name in ("gamma", "beta")}
        for name in ("query", "key", "value"):
            shapes[f"{block}_attention/{name}/kernel"] = (width, heads, size)
            shapes[f"{block}_attention/{name}/bias"] = (heads, size)
        shapes[f"{block}_attention/attention_output/kernel"] = (heads, size, width)
        shapes[f"{block}_attention/attention_output/bias"] = (width,)
        shapes |= {f"{block}_norm2/{name}": (width,) for name in ("gamma", "beta")}
        shapes |= {f"{block}_up/kernel": (width, 4 * width), f"{block}_up/bias": (4 * width,)}
        shapes |= {f"{block}_down/kernel": (4 * width, width), f"{block}_down/bias": (width,)}
    shapes |= {f"norm/{name}": (width,) for name in ("gamma", "beta")}
    return shapes | {"logits/kernel": (width, work.vocabulary), "logits/bias": (work.vocabulary,)}


def initial_weights(work: ShardedWork) -> dict[str, Array]:
    """Small random kernels, and scales of one."""
    random = np.random.default_rng(1)
    return {path: _initial_weight(path, shape, random) for path, shape in weight_shapes(work).items()}


def tokens(work: ShardedWork) -> tuple[Array, Array]:
    """The rows of a round, and the next token of each token."""
    random = np.random.default_rng(2)
    text = random.integers(0, work.vocabulary, (work.steps * work.rows, work.length + 1)).astype("int32")
    return text[:, :-1], text[:, 1:]


def weight_axes(work: ShardedWork) -> dict[str, Axes]:
    """For each dimension of each weight the axis of the mesh along which it is sharded."""
    choose = _by_size if work.sharding == "zero3" else _by_role
    return {path: choose(path, shape, work) for path, shape in weight_shapes(work).items()}


def _by_size(path: str, shape: tuple[int, ...], work: ShardedWork) -> Axes:
    del path
    dims = [dim for dim in range(len(shape)) if shape[dim] % work.devices == 0]
    if math.prod(shape) < 1024 or not dims:
        return (None,) * len(shape)
    largest = max(dims, key=lambda dim: (shape[dim], -dim))
    return tuple("batch" if dim == largest else None for dim in range(len(shape)))


def _by_role(path: str, shape: tuple[int, ...], work: ShardedWork) -> Axes:
    del work
    endings: dict[str, Axes] = {
        "tokens/embeddings": ("model", None),
        "/attention_output/kernel": ("model", None, None),
        "_attention/attention_output/bias": (None,),
        "_up/kernel": (None, "model"),
        "_up/bias": ("model",),
        "_down/kernel": ("model", None),
        "logits/kernel": (None, "model"),
        "logits/bias": ("model",),
    }
    for name in ("query", "key", "value"):
        endings |= {f"/{name}/kernel": (None, "model", None), f"/{name}/bias": ("model", None)}
    return next((axes for ending, axes in endings.items() if path.endswith(ending)), (None,) * len(shape))


def _initial_weight(path: str, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    if path.endswith("gamma"):
        return np.ones(shape, "float32")
    if path.endswith(("beta", "bias")):
        return np.zeros(shape, "float32")
    return random.normal(0, 0.05, shape).astype("float32")
