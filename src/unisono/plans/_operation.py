"""What every operation is: a frozen description that can count its elements and give them.

Elements travel *deferred*, as functions without arguments. So a shuffle can permute a million elements
without holding one of them, and a map function is called when its element is taken, not before.

A *path* says which pass this is. It is `(k,)` for pass k over a plan. A finite `repeat(c)` counts its rounds
on, `(k * c + round,)`; an infinite one appends its round, `(k, round)`. A shuffle's order is a function of
its path.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from unisono.plans._nest import Nest

Path: TypeAlias = tuple[int, ...]
Deferred: TypeAlias = Callable[[], Nest]


@dataclass(frozen=True, kw_only=True)
class Upstream:
    """Everything that stands before an operation, as that operation sees it."""

    cardinality: int
    elements: Callable[[Path], Iterator[Deferred]]
    num_shuffles: int
    """Shuffles before this point. It keeps two shuffles with one seed apart, and unlike a position among all
    operations it does not change when a map or a prefetch is added."""


class Operation(ABC):
    """One step of a plan."""

    @abstractmethod
    def cardinality(self, upstream: int) -> int:
        """The number of elements, given the number that come in."""

    @abstractmethod
    def elements(self, upstream: Upstream, path: Path) -> Iterator[Deferred]:
        """The elements of one pass: the reference that every faster way must agree with."""

    @abstractmethod
    def __str__(self) -> str:
        """The operation as the user wrote it, such as `batch(64)`."""
