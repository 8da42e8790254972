"""Operations that ask a function of each element whether it is to be kept."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono._src.data.plans._cardinality import UNKNOWN_CARDINALITY
from unisono._src.data.plans._identity import ComputedElement
from unisono._src.data.plans._map import apply, check_function, function_name
from unisono._src.data.plans._operation import Operation


@dataclass(frozen=True)
class PredicateOperation(Operation):
    """How many elements are kept is known when all have been computed."""

    predicate: Callable[..., Any]

    def __post_init__(self) -> None:
        check_function(self.predicate, self.call)

    @property
    @abstractmethod
    def call(self) -> str:
        """The method that the user wrote."""

    @property
    def keeps_random_access(self) -> bool:
        return False

    def cardinality(self, upstream: int) -> int:
        return UNKNOWN_CARDINALITY if upstream else 0

    def accepts(self, element: ComputedElement) -> bool:
        """The predicate's answer for one element, which must be one truth value."""
        answer = np.asarray(apply(self.predicate, element.value))
        if answer.shape != () or answer.dtype != np.bool_:
            raise TypeError(
                f"{self}: the function must return one true or false for an element, but it returned an array of "
                f"shape {answer.shape} and dtype {answer.dtype}. Compare, and use .any() or .all(): x.sum() > 0."
            )
        return bool(answer)

    def __str__(self) -> str:
        return f"{self.call}({function_name(self.predicate)})"
