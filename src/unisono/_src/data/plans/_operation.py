"""What every operation is: a frozen description that owns everything there is to know about it.

An operation answers for itself, so that a new one is one file in this package and one method of `Dataset`:

- `cardinality`: how many elements it gives.
- `elements`: which elements, in which order. This is the reference that every faster way must agree with.
- `element_spec`: what its elements look like, without running the plan where that is possible.
- `on_rows`: the same operation on row numbers, a whole pass at once, for plans over arrays. None leaves it, and
  everything after it, to `elements`.
- flags such as `commutes_with_maps`: what the executor may do around it.

Only `keeps_random_access`, `elements` and `__str__` have to be written. The defaults of the rest are safe:
`cardinality` and `element_spec` say "unchanged".

This package imports neither JAX nor Keras. An operation that has to trace or run a user's function to know its spec
asks the `Inspection` that it is given. `unisono._src.data.dataset` implements it, with JAX.

Elements travel *deferred*, as functions without arguments. So a shuffle can permute a million elements
without holding one of them, a map function is called when its element is taken and not before, and threads
can compute many of them at once.

A *pass ID* says which pass this is. It is `(k,)` for pass k over a plan. A finite `repeat(c)` counts its rounds
through all passes, `(k * c + round,)`; an infinite one appends its round, `(k, round)`, and so does an operation that
opens plans itself. A shuffle's order is a function of its pass ID.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from unisono._src.data.plans._nest import Nest

if TYPE_CHECKING:
    from unisono._src.data.plans._inspection import Inspection
    from unisono._src.data.plans._plan import Plan
    from unisono._src.data.plans._row_plan import RowPlan

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
"""tf.data's two constants, where the number of elements is not a number."""

PassId: TypeAlias = tuple[int, ...]
Deferred: TypeAlias = Callable[[], Nest]
State: TypeAlias = Any
"""A position in a pass: what JSON can hold."""


class Elements(ABC):
    """One pass over a stage: an iterator of deferred elements that can be set to an earlier position."""

    def __iter__(self) -> Self:
        return self

    @abstractmethod
    def __next__(self) -> Deferred:
        """The next element."""

    @abstractmethod
    def get_state(self) -> State:
        """The position of the pass, small and fit for JSON."""

    @abstractmethod
    def set_state(self, state: State) -> None:
        """Moves to where `get_state` was called, in a new pass with the same ID over an equal plan."""

    @abstractmethod
    def close(self) -> None:
        """Releases files, threads and generators. Safe to call twice."""


@dataclass(frozen=True, kw_only=True)
class Upstream:
    """Everything that comes before an operation, as that operation sees it."""

    cardinality: int
    random_access: bool
    """Whether an element costs nothing until it is computed, so that all of them may be held deferred."""
    open: Callable[[PassId], Elements]
    num_shuffles: int
    """Shuffles before this point. It keeps two shuffles with one seed apart, and unlike a position among all
    operations it does not change when a map or a prefetch is added."""


class PlanPart:
    """What sources and operations have in common."""

    @property
    def num_shuffles(self) -> int:
        """1 for a shuffle; for a source the shuffles that it replaces."""
        return 0

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """Other plans that it reads."""
        return ()

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Self:
        """The same part on other plans; `inputs` has the length of `self.inputs`."""
        return self


class Operation(PlanPart, ABC):
    """One step of a plan."""

    keeps_random_access: ClassVar[bool]
    """Whether its elements cost nothing until they are computed, if those before it do."""
    commutes_with_maps: ClassVar[bool] = False
    """Whether it chooses among elements without looking at them: a map may run before or after it."""
    only_reorders: ClassVar[bool] = False
    """Whether every element is one that came in: to see what an element looks like it can be left out."""
    holds_all_deferred: ClassVar[bool] = False
    """Whether it may hold all elements of a pass, deferred: they must not have been computed before it."""
    makes_batches: ClassVar[bool | None] = False
    """Whether its elements are batches; None if that depends on a user's function."""

    def cardinality(self, upstream: int) -> int:
        """The number of elements, given the number that come in. The same by default."""
        return upstream

    @abstractmethod
    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        """The elements of one pass: the reference that every faster way must agree with."""

    @abstractmethod
    def __str__(self) -> str:
        """The operation as the user wrote it, such as `batch(64)`."""

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        """What its elements look like, if those that come in look like `spec`. Unchanged by default.

        Raises an error that names the operation if it cannot take such elements.
        """
        return spec

    def on_rows(self, rows: RowPlan) -> RowPlan | None:
        """The plan with this operation done to its row numbers; None if `elements` has to do it."""
        return None

    @property
    def full_batch_size(self) -> int | None:
        """The number of elements that it stacks into one, if that is a constant."""
        return None

    def without_memory(self) -> Self:
        """The same operation with no elements remembered: what follows when the seeds before it change."""
        return self
