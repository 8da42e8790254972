"""Cases and targets of the benchmark of input pipelines."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import ClassVar

from _cases import UNISONO, Case, Target

UNISONO_BATCHED = "unisono-batched"
TF_DATA = "tf.data"
TF_DATA_BATCHED = "tf.data-batched"
GRAIN = "grain"
TORCH = "torch"


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """A workload that is one pass over an input pipeline.

    Attributes:
        reads: what it reads and does, by the case's name.
        num_elements: elements of one pass.
        batch_size: elements of one batch.
        shape: of one element of the first part of a batch.
        dtype: of the first part of a batch.
    """

    platform: ClassVar = "cpu"  # nothing is sent to a device
    devices_per_process: ClassVar = 1

    reads: str
    num_elements: int
    shape: tuple[int, ...]
    dtype: str
    batch_size: int = 32

    @property
    def steps_per_round(self) -> int:
        return self.num_elements

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Pipeline:
        values = json.loads(text)
        return cls(**{**values, "shape": tuple(values["shape"])})


CASES = (
    Case(
        name="mnist",
        workload=Pipeline(reads="mnist", num_elements=60_000, shape=(28, 28), dtype="float32"),
        contenders=(UNISONO, TF_DATA, TF_DATA_BATCHED, GRAIN, TORCH),
        targets=(Target(TF_DATA, 1 / 5),),
    ),
    Case(
        name="jpeg",
        workload=Pipeline(reads="jpeg", num_elements=2_000, shape=(256, 256, 3), dtype="uint8"),
        contenders=(UNISONO, TF_DATA, GRAIN, TORCH),
        targets=(Target(TF_DATA, 1),),
    ),
    Case(
        name="records",
        workload=Pipeline(reads="records", num_elements=20_000, shape=(28, 28), dtype="uint8"),
        contenders=(UNISONO, UNISONO_BATCHED, TF_DATA, TF_DATA_BATCHED),
        targets=(Target(TF_DATA, 1),),
    ),
    # One Python function does nearly all of the work, so there is little to gain: no target.
    Case(
        name="generator",
        workload=Pipeline(reads="generator", num_elements=20_000, shape=(28, 28), dtype="uint8"),
        contenders=(UNISONO, TF_DATA, TORCH),
        targets=(),
    ),
)
