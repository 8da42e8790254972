"""What the cases of benchmarks are made of: a workload, contenders, targets."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

UNISONO = "unisono"
KERAS_JAX = "keras-jax"
TENSORFLOW = "tensorflow"
HAND_WRITTEN = "hand-written"
REPLICA_VIEW = "shard_map"
TORCH = "torch"


class Work(Protocol):
    """What every contender of a case does in one round; sent to it as one line of JSON."""

    @property
    def platform(self) -> str: ...

    @property
    def devices_per_process(self) -> int: ...

    @property
    def steps_per_round(self) -> int: ...

    def to_json(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A workload of a small network: training, evaluation or prediction.

    Attributes:
        network: "mlp" is 784-256-256-10; "cnn" is Conv 32 3x3, MaxPool 2x2, Flatten, Dense 64, Dense 10.
        platform: the kind of device.
        replicas: the number of devices.
        global_batch_size: rows of one step, over all devices.
        steps: steps of one epoch. The data is cut to that many batches.
        epochs: epochs of one round; of `evaluate` and `predict`, which have none, the calls.
        workers: processes that share the devices.
        call: the method of the model that is measured.
        feeds: whether a custom loop sends the batches of a round to the devices within the round, not before it.
    """

    network: Literal["mlp", "cnn"]
    platform: Literal["cpu", "gpu"]
    replicas: int
    global_batch_size: int
    steps: int
    epochs: int
    workers: int = 1
    call: Literal["fit", "evaluate", "predict"] = "fit"
    feeds: bool = False

    def __post_init__(self) -> None:
        if self.global_batch_size % self.replicas:
            raise ValueError(f"A batch of {self.global_batch_size} rows does not divide over {self.replicas} replicas.")
        if self.replicas % self.workers:
            raise ValueError(f"{self.replicas} replicas do not divide over {self.workers} workers.")

    @property
    def devices_per_process(self) -> int:
        return self.replicas // self.workers

    @property
    def num_rows(self) -> int:
        return self.steps * self.global_batch_size

    @property
    def steps_per_round(self) -> int:
        return self.steps * self.epochs

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Workload:
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Target:
    """The contender's time divided by the opponent's is at most ``limit``."""

    opponent: str
    limit: float
    contender: str = UNISONO

    def __str__(self) -> str:
        if self.limit < 1:
            limit = f"at least {1 / self.limit:.2g} times as fast as {self.opponent}"
        elif self.limit == 1:
            limit = f"faster than {self.opponent}"
        else:
            limit = f"at most {self.limit:g} times the time of {self.opponent}"
        return limit if self.contender == UNISONO else f"{self.contender}: {limit}"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A workload, its contenders and its targets."""

    name: str
    workload: Work
    contenders: tuple[str, ...]
    targets: tuple[Target, ...]
