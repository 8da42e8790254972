"""enumerate: each element with its number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from unisono._src.data.plans._arguments import check_int
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._operation import Deferred, Elements, Operation, PassId, Upstream
from unisono._src.data.plans._passes import StatefulElements
from unisono._src.data.plans._row_arrays import RangeArray
from unisono._src.data.plans._row_order import Order, RowRequest, RowStep, as_columns
from unisono._src.data.plans._row_plan import RowPlan
from unisono._src.data.plans._spec import TensorSpec


@dataclass(frozen=True)
class Enumerate(Operation):
    """`(start, first), (start + 1, second), …`"""

    keeps_random_access = True

    start: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", check_int(self.start, "enumerate", "start"))

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _EnumeratedElements(upstream.open(pass_id), self.start)

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        return TensorSpec((), np.int64), spec

    def on_rows(self, rows: RowPlan) -> RowPlan | None:
        if rows.is_endless or rows.batch is not None:
            return None
        return rows.then(
            _EnumerateStep(),
            rows.size,
            arrays=(RangeArray(range(self.start, self.start + rows.size)), rows.arrays),
            tables=(max(rows.tables) + 1, *rows.tables),
            maps=tuple(one.on_branch((..., ...), 1, one.origin) for one in rows.maps),
        )

    def __str__(self) -> str:
        return f"enumerate({self.start or ''})"


class _EnumerateStep(RowStep):
    """Adds a column: the position of each element."""

    def apply(self, before: Callable[[RowRequest], Order], request: RowRequest) -> Order:
        rows = before(request)
        if request.probe is not None:
            return rows
        assert isinstance(rows, np.ndarray), "batches are not enumerated by row"
        positions = np.arange(len(rows), dtype=np.int32)
        return np.concatenate([as_columns(rows), positions[:, None]], axis=1)


class _EnumeratedElements(StatefulElements):
    own_state = "_number"

    def __init__(self, upstream: Elements, start: int) -> None:
        self._upstream, self._number = upstream, start

    def __next__(self) -> Deferred:
        element = partial(_number_element, self._number, next(self._upstream))
        self._number += 1
        return element


def _number_element(number: int, element: Deferred) -> Nest:
    return np.asarray(number, np.int64), element()
