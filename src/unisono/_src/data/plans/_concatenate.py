"""concatenate: one plan after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from unisono._src.data.plans._cardinality import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from unisono._src.data.plans._identity import epoch_number, renew_identity
from unisono._src.data.plans._operation import Deferred, Elements, Operation, Path, State, Upstream

if TYPE_CHECKING:
    from unisono._src.data.plans._plan import Plan


@dataclass(frozen=True, eq=False)
class Concatenate(Operation):
    """The elements of another plan after these."""

    other: Plan

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.other,)

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Self:
        return replace(self, other=inputs[0])

    @property
    def keeps_random_access(self) -> bool:
        return self.other.random_access

    def cardinality(self, upstream: int) -> int:
        both = (upstream, self.other.cardinality)
        if INFINITE_CARDINALITY in both:
            return INFINITE_CARDINALITY
        return UNKNOWN_CARDINALITY if UNKNOWN_CARDINALITY in both else sum(both)

    def elements(self, upstream: Upstream, path: Path) -> Elements:
        return _OneAfterTheOther(upstream.open(path), self.other.open(path), epoch_number(path))

    def __str__(self) -> str:
        return f"concatenate({self.other})"


class _OneAfterTheOther(Elements):
    def __init__(self, first: Elements, second: Elements, epoch: int) -> None:
        self._first, self._second, self._epoch = first, second, epoch
        self._in_second = False
        self._given = 0

    def __next__(self) -> Deferred:
        element = None if self._in_second else next(self._first, None)
        if element is None:
            self._in_second = True
            element = next(self._second)
        self._given += 1
        return renew_identity(element, self._epoch, self._given - 1)

    def get_state(self) -> State:
        inputs = [self._first.get_state(), self._second.get_state()]
        return {"second": self._in_second, "given": self._given, "inputs": inputs}

    def set_state(self, state: State) -> None:
        self._in_second, self._given = state["second"], state["given"]
        self._first.set_state(state["inputs"][0])
        self._second.set_state(state["inputs"][1])

    def close(self) -> None:
        self._first.close()
        self._second.close()
