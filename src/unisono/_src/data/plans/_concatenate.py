"""concatenate: one plan after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from unisono._src.data.plans._identity import pass_number, renew_identity
from unisono._src.data.plans._indexed import index_plan
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._nest import Nest, flatten, structure, unflatten
from unisono._src.data.plans._operation import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Deferred,
    Elements,
    Operation,
    PassId,
    State,
    Upstream,
)
from unisono._src.data.plans._row_arrays import ConcatenatedArray
from unisono._src.data.plans._row_order import Order, RowOrder, RowRequest, RowStep
from unisono._src.data.plans._row_plan import RowPlan
from unisono._src.data.plans._spec import merge_specs

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
    def keeps_random_access(self) -> bool:  # type: ignore[override]  # the only one that depends on its arguments
        return self.other.random_access

    def cardinality(self, upstream: int) -> int:
        both = (upstream, self.other.cardinality)
        if INFINITE_CARDINALITY in both:
            return INFINITE_CARDINALITY
        return UNKNOWN_CARDINALITY if UNKNOWN_CARDINALITY in both else sum(both)

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _ConcatenatedElements(upstream.open(pass_id), self.other.open(pass_id), pass_number(pass_id))

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        return merge_specs([spec, inspection.spec_of(self.other)])

    def on_rows(self, rows: RowPlan) -> RowPlan | None:
        if rows.is_endless or rows.batch is not None or rows.maps:
            return None
        found = index_plan(self.other)
        if found is None or found[1]:
            return None
        other = found[0]
        if other.element_maps or other.batch or other.num_batches is None or max(*rows.tables, *other.tables):
            return None
        if not _have_equal_rows(rows.arrays, other.arrays):
            return None
        leaves = [ConcatenatedArray(*pair) for pair in zip(flatten(rows.arrays), flatten(other.arrays), strict=True)]
        return rows.then(
            _ConcatenateStep(other.order, flatten(rows.arrays)[0].shape[0]),
            rows.size + other.cardinality,
            arrays=unflatten(rows.arrays, leaves),
            origins=(),  # no map has used the earlier identities, and the step renews them
            shuffles_fully=rows.shuffles_fully and other.shuffles_fully,
        )

    def __str__(self) -> str:
        return f"concatenate({self.other})"


@dataclass(frozen=True, eq=False)
class _ConcatenateStep(RowStep):
    """The rows of another order after these, numbered from `num_first_rows` on."""

    renews_identity = True

    other: RowOrder
    num_first_rows: int

    def apply(self, before: Callable[[RowRequest], Order], request: RowRequest) -> Order:
        assert request.probe is None, "a renewing step is not probed"
        first, second = before(request), self.other.rows(RowRequest(request.pass_id))
        assert isinstance(first, np.ndarray), "batches are not concatenated by row"
        assert isinstance(second, np.ndarray), "batches are not concatenated by row"
        return np.concatenate([first, second + np.int32(self.num_first_rows)])


def _have_equal_rows(one: Nest, other: Nest) -> bool:
    """Whether the rows of both have the same structure, shapes and dtypes."""
    if structure(one) != structure(other):
        return False
    pairs = zip(flatten(one), flatten(other), strict=True)
    return all(a.shape[1:] == b.shape[1:] and a.dtype == b.dtype for a, b in pairs)


class _ConcatenatedElements(Elements):
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
