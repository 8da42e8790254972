"""repeat: several passes as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from unisono.plans._cardinality import INFINITE_CARDINALITY
from unisono.plans._operation import Deferred, Operation, Path, Upstream
from unisono.plans._whole_number import whole_number


@dataclass(frozen=True)
class Repeat(Operation):
    """`count` rounds, without end for None or -1. Shuffles before it give each round its own order."""

    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is None:
            return
        number = whole_number(self.count, "repeat", "count")
        if number == 0 or number < -1:
            raise ValueError(
                f"repeat: count must be at least 1, but it is {number}. "
                f"Write repeat(2) for two rounds, or repeat() to go on without end."
            )
        object.__setattr__(self, "count", None if number == -1 else number)

    def cardinality(self, upstream: int) -> int:
        if self.count is None and upstream != 0:
            return INFINITE_CARDINALITY
        return upstream if upstream < 0 else upstream * (self.count or 1)

    def round_path(self, path: Path, number: int) -> Path:
        """The path of one round, unique among the rounds of all passes."""
        if self.count is None:
            return (*path, number)
        return (*path[:-1], path[-1] * self.count + number)

    def elements(self, upstream: Upstream, path: Path) -> Iterator[Deferred]:
        for number in count() if self.count is None else range(self.count):
            empty = True
            for element in upstream.elements(self.round_path(path, number)):
                empty = False
                yield element
            if empty:  # as in tf.data: nothing, repeated without end, is nothing, not a hang
                return

    def __str__(self) -> str:
        return f"repeat({'' if self.count is None else self.count})"
