"""range: numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from unisono._src.data.plans._identity import epoch_number, set_identity
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._operation import Elements, Path
from unisono._src.data.plans._passes import NumberedElements
from unisono._src.data.plans._row_arrays import RangeArray
from unisono._src.data.plans._row_plan import RowPlan
from unisono._src.data.plans._source import Source
from unisono._src.data.plans._spec import TensorSpec


@dataclass(frozen=True)
class Range(Source):
    """The numbers of Python's `range`, as arrays without dimensions."""

    numbers: range
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.int64))

    @property
    def cardinality(self) -> int:
        return len(self.numbers)

    @property
    def random_access(self) -> bool:
        return True

    def elements(self, path: Path) -> Elements:
        return NumberedElements(len(self.numbers), partial(partial, self._element, epoch_number(path)))

    def _element(self, epoch: int, row: int) -> np.ndarray[Any, Any]:
        set_identity(epoch, row)
        return np.asarray(self.numbers[row], self.dtype)

    def element_spec(self, inspection: Inspection) -> TensorSpec:
        return TensorSpec((), self.dtype)

    def as_rows(self) -> RowPlan | None:
        return RowPlan.of_arrays(RangeArray(self.numbers, self.dtype), len(self.numbers))

    @property
    def gives_single_rows(self) -> bool:
        return True

    def __str__(self) -> str:
        return str(self.numbers).replace("range(0, ", "range(")
