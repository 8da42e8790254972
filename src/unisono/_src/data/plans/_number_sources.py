"""Sources of numbers: a range, an endless counter, and endless random numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from unisono._src.data.plans._identity import pass_number, set_identity
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._operation import INFINITE_CARDINALITY, Elements, PassId
from unisono._src.data.plans._passes import NumberedElements
from unisono._src.data.plans._permutation import random_words
from unisono._src.data.plans._row_arrays import RangeArray
from unisono._src.data.plans._row_plan import RowPlan
from unisono._src.data.plans._seeds import draw_seed
from unisono._src.data.plans._source import Source
from unisono._src.data.plans._spec import TensorSpec


@dataclass(frozen=True)
class Range(Source):
    """The numbers of Python's `range`, as arrays without dimensions."""

    random_access = True
    gives_single_rows = True

    numbers: range
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.int64))

    @property
    def cardinality(self) -> int:
        return len(self.numbers)

    def elements(self, pass_id: PassId) -> Elements:
        return NumberedElements(len(self.numbers), partial(partial, self._element, pass_number(pass_id)))

    def _element(self, epoch: int, row: int) -> np.ndarray[Any, Any]:
        set_identity(epoch, row)
        return np.asarray(self.numbers[row], self.dtype)

    def element_spec(self, inspection: Inspection) -> TensorSpec:
        return TensorSpec((), self.dtype)

    def as_rows(self) -> RowPlan | None:
        return RowPlan.of_arrays(RangeArray(self.numbers, self.dtype), len(self.numbers))

    def __str__(self) -> str:
        return str(self.numbers).replace("range(0, ", "range(")


@dataclass(frozen=True)
class Counter(Source):
    """`start`, `start + step`, …"""

    random_access = True

    start: int
    step: int
    dtype: np.dtype[Any]

    @property
    def cardinality(self) -> int:
        return INFINITE_CARDINALITY

    def elements(self, pass_id: PassId) -> Elements:
        return NumberedElements(None, partial(partial, self._element, pass_number(pass_id)))

    def _element(self, epoch: int, row: int) -> np.ndarray[Any, Any]:
        set_identity(epoch, row)
        return np.asarray(self.start + row * self.step, self.dtype)

    def element_spec(self, inspection: Inspection) -> TensorSpec:
        return TensorSpec((), self.dtype)

    def __str__(self) -> str:
        return f"counter({self.start}, {self.step})"


@dataclass(frozen=True)
class RandomNumbers(Source):
    """Random numbers of 32 bits; different ones in each pass if `rerandomize`."""

    random_access = True

    seed: int | None = None
    rerandomize: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", draw_seed() if self.seed is None else int(self.seed))

    @property
    def cardinality(self) -> int:
        return INFINITE_CARDINALITY

    def elements(self, pass_id: PassId) -> Elements:
        return NumberedElements(None, partial(partial, self._element, pass_id))

    def _element(self, pass_id: PassId, row: int) -> np.ndarray[Any, Any]:
        assert self.seed is not None, "__post_init__ draws one"
        set_identity(pass_number(pass_id), row)
        words = random_words(self.seed, 0, (*(pass_id if self.rerandomize else ()), row))
        return np.asarray(words.random_raw() % 2**32, np.int64)

    def element_spec(self, inspection: Inspection) -> TensorSpec:
        return TensorSpec((), np.int64)

    def __str__(self) -> str:
        return "random()"
