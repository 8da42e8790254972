"""Cases and targets of the benchmark of large models on one GPU: ResNet-50 and GPT-2 small."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from _cases import KERAS_JAX, UNISONO, Case, Target

TORCH_COMPILE = "torch.compile"
TORCH_LOADER = "torch.compile + DataLoader"

NUM_CLASSES = 1000
VOCABULARY = 50304  # GPT-2's 50257, rounded up to a multiple of 128
LENGTH = 1024

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, kw_only=True)
class LargeWork:
    """Training of a large model in bfloat16 with float32 weights.

    Attributes:
        network: "resnet50" with SGD and momentum on uint8 images of 224x224; "gpt2" small with Adam, untied embeddings,
            no dropout, on tokens.
        rows: rows of one step.
        steps: steps of one epoch.
        epochs: epochs of one round, except for the first.
    """

    network: Literal["resnet50", "gpt2"]
    rows: int
    steps: int
    epochs: int = 1
    platform: Literal["gpu"] = "gpu"

    @property
    def devices_per_process(self) -> int:
        return 1

    @property
    def steps_per_round(self) -> int:
        return self.steps * self.epochs

    @property
    def items_per_step(self) -> int:
        """Images, or tokens."""
        return self.rows * (LENGTH if self.network == "gpt2" else 1)

    def epochs_by_round(self) -> Iterator[int]:
        """One epoch in the first round, which compiles and does not count; its time is the same for all `epochs`."""
        return itertools.chain([1], itertools.repeat(self.epochs))

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> LargeWork:
        return cls(**json.loads(text))


def load(work: LargeWork) -> tuple[Array, Array]:
    """The rows of an epoch: random images and labels, or random tokens and the token after each of them."""
    random = np.random.default_rng(1)
    rows = work.rows * work.steps
    if work.network == "gpt2":
        text = random.integers(0, VOCABULARY, (rows, LENGTH + 1), "int32")
        return text[:, :-1], text[:, 1:]
    images = random.integers(0, 256, (rows, 224, 224, 3), "uint8")
    return images, random.integers(0, NUM_CLASSES, rows, "int32")


_CONTENDERS = (UNISONO, KERAS_JAX, TORCH_COMPILE)
_TARGETS = (Target(KERAS_JAX, 1), Target(TORCH_COMPILE, 1))

CASES = (
    Case(
        name="resnet50",
        workload=LargeWork(network="resnet50", rows=256, steps=30),
        contenders=(*_CONTENDERS, TORCH_LOADER),
        targets=_TARGETS,
    ),
    Case(
        name="resnet50-4-epochs",
        workload=LargeWork(network="resnet50", rows=256, steps=30, epochs=4),
        contenders=_CONTENDERS,
        targets=_TARGETS,
    ),
    Case(
        name="gpt2",
        workload=LargeWork(network="gpt2", rows=32, steps=20),
        contenders=_CONTENDERS,
        targets=_TARGETS,
    ),
)
