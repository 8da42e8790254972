"""cache: elements computed once and kept in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from unisono._src.data.plans._identity import pass_number, renew_identity
from unisono._src.data.plans._nest import Nest, map_leaves
from unisono._src.data.plans._operation import (
    INFINITE_CARDINALITY,
    Deferred,
    Elements,
    Operation,
    PassId,
    State,
    Upstream,
)
from unisono._src.data.plans._passes import next_or_raise
from unisono._src.data.plans._row_arrays import as_read_only
from unisono._src.data.plans._row_order import Order, RowRequest, RowStep
from unisono._src.data.plans._row_plan import RowPlan

FIRST_PASS: PassId = (0,)


@dataclass(eq=False)
class CacheMemory:
    """The only mutable object in a plan: elements by their position in the first pass."""

    elements: dict[int, Nest] = field(default_factory=dict)
    size: int | None = None
    """The number of elements in a pass, once a pass has been read completely."""

    @property
    def complete(self) -> bool:
        """Whether every element of a pass is there."""
        return self.size is not None and len(self.elements) == self.size


@dataclass(frozen=True, eq=False)
class Cache(Operation):
    """Every pass gives the first pass's elements, each computed once.

    tf.data keeps whichever pass was completed first. Here it is always pass 0, so the order after
    `shuffle().cache()` does not depend on a loop that was left early. An endless input is not kept:
    memory is finite.

    The memory belongs to the operation object: an object serves one point of one plan (and all plans that
    begin with it).
    """

    keeps_random_access = True
    only_reorders = True

    memory: CacheMemory = field(default_factory=CacheMemory, repr=False)

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        if upstream.cardinality == INFINITE_CARDINALITY:
            return upstream.open(pass_id)
        return _CachedElements(upstream, self.memory, pass_number(pass_id))

    def on_rows(self, rows: RowPlan) -> RowPlan | None:
        if rows.is_endless:
            return rows
        if rows.maps and not rows.recomputes_cached_maps:
            return None
        return rows.then(_CacheStep(), rows.size, maps=tuple(replace(one, cached=True) for one in rows.maps))

    def without_memory(self) -> Cache:
        return Cache()

    def __str__(self) -> str:
        return "cache()"


class _CacheStep(RowStep):
    """Every pass has the order of the first."""

    renews_identity = True

    def apply(self, before: Callable[[RowRequest], Order], request: RowRequest) -> Order:
        return before(replace(request, pass_id=FIRST_PASS))


class _CachedElements(Elements):
    """Elements from the memory, and those that are not there yet from the first pass."""

    def __init__(self, upstream: Upstream, memory: CacheMemory, epoch: int) -> None:
        self._upstream, self._memory, self._epoch = upstream, memory, epoch
        self._first_pass: Elements | None = None
        self._index = 0

    def __next__(self) -> Deferred:
        index, memory = self._index, self._memory
        element: Deferred
        if self._first_pass is None and memory.complete:
            if index == memory.size:
                raise StopIteration
            element = partial(memory.elements.__getitem__, index)
        else:
            following = next(self._open_first_pass(), None)
            if following is None:
                memory.size = index
                raise StopIteration
            element = partial(self._remember, index, following)
        self._index += 1
        return renew_identity(element, self._epoch, index)

    def _remember(self, index: int, element: Deferred) -> Nest:
        elements = self._memory.elements
        if index not in elements:
            elements[index] = map_leaves(as_read_only, element())
        return elements[index]

    def _open_first_pass(self) -> Elements:
        """The first pass, at the position of this one. Elements are deferred: reading up to there computes nothing."""
        if self._first_pass is None:
            self._first_pass = self._upstream.open(FIRST_PASS)
            for _ in range(self._index):
                next_or_raise(self._first_pass)
        return self._first_pass

    def get_state(self) -> State:
        return {"index": self._index, "input": self._first_pass and self._first_pass.get_state()}

    def set_state(self, state: State) -> None:
        self.close()
        self._index = state["index"]
        if state["input"] is not None and not self._memory.complete:
            self._first_pass = self._upstream.open(FIRST_PASS)
            self._first_pass.set_state(state["input"])

    def close(self) -> None:
        first_pass, self._first_pass = self._first_pass, None
        if first_pass is not None:
            first_pass.close()
