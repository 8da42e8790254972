"""What every operation is: a frozen description that can count its elements and give them.

Elements travel *deferred*, as functions without arguments. So a shuffle can permute a million elements
without holding one of them, a map function is called when its element is taken and not before, and threads
can compute many of them at once.

A *path* says which pass this is. It is `(k,)` for pass k over a plan. A finite `repeat(c)` counts its rounds
on, `(k * c + round,)`; an infinite one appends its round, `(k, round)`, and so does an operation that opens
plans of its own. A shuffle's order is a function of its path.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from unisono._src.data.plans._nest import Nest

if TYPE_CHECKING:
    from unisono._src.data.plans._plan import Plan

Path: TypeAlias = tuple[int, ...]
Deferred: TypeAlias = Callable[[], Nest]
State: TypeAlias = Any
"""What JSON can hold."""


class Elements(ABC):
    """One pass over a stage: an iterator of deferred elements that can be set to a place it has been at."""

    def __iter__(self) -> Self:
        return self

    @abstractmethod
    def __next__(self) -> Deferred:
        """The next element."""

    @abstractmethod
    def get_state(self) -> State:
        """Where the pass stands, small and fit for JSON."""

    @abstractmethod
    def set_state(self, state: State) -> None:
        """Goes to where `get_state` was called, in a new pass with the same path over an equal plan."""

    @abstractmethod
    def close(self) -> None:
        """Gives back files, threads and generators. Safe to call twice."""


@dataclass(frozen=True, kw_only=True)
class Upstream:
    """Everything that stands before an operation, as that operation sees it."""

    cardinality: int
    random_access: bool
    """Whether an element costs nothing until it is computed, so that all of them may be held deferred."""
    open: Callable[[Path], Elements]
    num_shuffles: int
    """Shuffles before this point. It keeps two shuffles with one seed apart, and unlike a position among all
    operations it does not change when a map or a prefetch is added."""


class Operation(ABC):
    """One step of a plan."""

    @property
    @abstractmethod
    def keeps_random_access(self) -> bool:
        """Whether its elements cost nothing until they are computed, if those before it do."""

    @abstractmethod
    def cardinality(self, upstream: int) -> int:
        """The number of elements, given the number that come in."""

    @abstractmethod
    def elements(self, upstream: Upstream, path: Path) -> Elements:
        """The elements of one pass: the reference that every faster way must agree with."""

    @abstractmethod
    def __str__(self) -> str:
        """The operation as the user wrote it, such as `batch(64)`."""

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """Other plans that this operation reads."""
        return ()

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Self:
        """The same operation on other plans; `inputs` are as many as its own."""
        return self
