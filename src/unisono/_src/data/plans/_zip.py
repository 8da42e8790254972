"""zip: elements of several plans side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Self

from unisono._src.data.plans._identity import current_identity, set_identity
from unisono._src.data.plans._indexed import IndexedPlan, index_plan
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._nest import Nest, flatten, is_leaf, map_leaves, unflatten
from unisono._src.data.plans._operation import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Deferred,
    Elements,
    PassId,
    State,
)
from unisono._src.data.plans._row_order import Origin, RowOrder
from unisono._src.data.plans._row_plan import IndexedMap, RowPlan
from unisono._src.data.plans._source import Source

if TYPE_CHECKING:
    from unisono._src.data.plans._plan import Plan


@dataclass(frozen=True, eq=False)
class ZippedPlans(Source):
    """A nest of plans as one source: as long as the shortest. An element has the identity of that of the first plan."""

    plans: Nest

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return tuple(flatten(self.plans))

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Self:
        return replace(self, plans=unflatten(self.plans, inputs))

    @property
    def cardinality(self) -> int:
        numbers = [plan.cardinality for plan in self.inputs]
        if 0 in numbers:
            return 0
        if UNKNOWN_CARDINALITY in numbers:
            return UNKNOWN_CARDINALITY
        return min((number for number in numbers if number != INFINITE_CARDINALITY), default=INFINITE_CARDINALITY)

    @property
    def random_access(self) -> bool:  # type: ignore[override]  # depends on its inputs
        return all(plan.random_access for plan in self.inputs)

    def elements(self, pass_id: PassId) -> Elements:
        return _ZippedElements(self.plans, [plan.open(pass_id) for plan in self.inputs])

    def element_spec(self, inspection: Inspection) -> Nest:
        return map_leaves(inspection.spec_of, self.plans)

    def as_rows(self) -> RowPlan | None:
        branches: list[IndexedPlan] = []
        for found in map(index_plan, self.inputs):
            if found is None or found[1] or found[0].batch or found[0].num_batches is None:
                return None
            branches.append(found[0])
        # The rows of an unbatched branch are counted here, but not by `cardinality`.
        size = min(branch.cardinality for branch in branches)
        if size >= 2**31:  # row numbers are int32
            return None
        like = map_leaves(lambda _: ..., self.plans)
        tables: list[int] = []
        maps: list[IndexedMap] = []
        origins: list[Origin] = []
        num_tables = 0
        for index, branch in enumerate(branches):
            for one in branch.element_maps:
                is_whole = is_leaf(like)  # zip(dataset): its elements are those of the only branch
                maps.append(one if is_whole else one.on_branch(like, index, one.origin + len(origins)))
            origins.extend(Origin(branch=index, inner=origin) for origin in branch.origins)
            tables.extend(table + num_tables for table in branch.tables)
            num_tables += branch.num_tables
        origins.append(Origin(branch=0, inner=branches[0].origins[-1]))  # after the zip: that of the first plan
        return RowPlan(
            arrays=unflatten(self.plans, [branch.arrays for branch in branches]),
            tables=tuple(tables),
            order=RowOrder(size, tuple(branch.order for branch in branches)),
            size=size,
            maps=tuple(maps),
            num_element_maps=len(maps),
            origins=tuple(origins),
            shuffles_fully=all(branch.shuffles_fully for branch in branches),
        )

    def __str__(self) -> str:
        return f"zip({', '.join(map(str, self.inputs))})"


class _ZippedElements(Elements):
    def __init__(self, plans: Nest, branches: list[Elements]) -> None:
        self._plans, self._branches = plans, branches

    def __next__(self) -> Deferred:
        return partial(self._combine, [next(branch) for branch in self._branches])

    def _combine(self, elements: list[Deferred]) -> Nest:
        values = [elements[0]()]
        first_identity = current_identity()
        values.extend(element() for element in elements[1:])
        set_identity(*first_identity)
        following = iter(values)
        return map_leaves(lambda _: next(following), self._plans)

    def get_state(self) -> State:
        return [branch.get_state() for branch in self._branches]

    def set_state(self, state: State) -> None:
        for branch, inner in zip(self._branches, state, strict=True):
            branch.set_state(inner)

    def close(self) -> None:
        for branch in self._branches:
            branch.close()
