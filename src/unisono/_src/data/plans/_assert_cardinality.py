"""assert_cardinality: the number of elements as the user states it, and an error if there are more or fewer."""

from __future__ import annotations

from dataclasses import dataclass

from unisono._src.data.plans._arguments import check_int
from unisono._src.data.plans._operation import INFINITE_CARDINALITY, Deferred, Elements, Operation, PassId, Upstream
from unisono._src.data.plans._passes import StatefulElements


@dataclass(frozen=True)
class AssertCardinality(Operation):
    """The same elements, of which there are `number`."""

    keeps_random_access = False

    number: int

    def __post_init__(self) -> None:
        number = check_int(self.number, "assert_cardinality", "expected_cardinality")
        if number < INFINITE_CARDINALITY:
            raise ValueError(
                f"assert_cardinality: expected a number of elements, or INFINITE_CARDINALITY (-1); got {number}."
            )
        object.__setattr__(self, "number", number)

    def cardinality(self, upstream: int) -> int:
        return self.number

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _CheckedElements(upstream.open(pass_id), self)

    def __str__(self) -> str:
        return f"assert_cardinality({self.number})"


class _CheckedElements(StatefulElements):
    own_state = "_seen"

    def __init__(self, upstream: Elements, operation: AssertCardinality) -> None:
        self._upstream, self._operation = upstream, operation
        self._seen = 0

    def __next__(self) -> Deferred:
        number = self._operation.number
        element = next(self._upstream, None)
        if element is None:
            if self._seen == number:
                raise StopIteration
            raise ValueError(
                f"{self._operation}: the data ended after {self._seen} elements. State the true number, or leave "
                f"the assertion out."
            )
        if self._seen == number:
            raise ValueError(
                f"{self._operation}: there are more than {number} elements. State the true number, or cut the data "
                f"with take({number})."
            )
        self._seen += 1
        return element
