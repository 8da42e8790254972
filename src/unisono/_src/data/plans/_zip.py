"""zip: elements of several plans side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Self

from unisono._src.data.plans._cardinality import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from unisono._src.data.plans._identity import current_identity, set_identity
from unisono._src.data.plans._nest import Nest, flatten, map_leaves, unflatten
from unisono._src.data.plans._operation import Deferred, Elements, Path, State
from unisono._src.data.plans._source import Source

if TYPE_CHECKING:
    from unisono._src.data.plans._plan import Plan


@dataclass(frozen=True, eq=False)
class ZippedPlans(Source):
    """A nest of plans as one source: as long as the shortest, and known by the element of the first."""

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
    def random_access(self) -> bool:
        return all(plan.random_access for plan in self.inputs)

    def elements(self, path: Path) -> Elements:
        return _SideBySide(self.plans, [plan.open(path) for plan in self.inputs])

    def __str__(self) -> str:
        return f"zip({', '.join(map(str, self.inputs))})"


class _SideBySide(Elements):
    def __init__(self, plans: Nest, branches: list[Elements]) -> None:
        self._plans, self._branches = plans, branches

    def __next__(self) -> Deferred:
        return partial(self._joined, [next(branch) for branch in self._branches])

    def _joined(self, elements: list[Deferred]) -> Nest:
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
