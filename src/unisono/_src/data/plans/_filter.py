"""filter and take_while: a function decides which elements are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unisono._src.data.plans._arguments import check_function, function_name
from unisono._src.data.plans._identity import ComputedElement
from unisono._src.data.plans._nest import apply
from unisono._src.data.plans._operation import UNKNOWN_CARDINALITY, Deferred, Elements, Operation, PassId, Upstream
from unisono._src.data.plans._passes import StatefulElements, StatelessElements


@dataclass(frozen=True)
class PredicateOperation(Operation):
    """How many elements are kept is known when all have been computed."""

    keeps_random_access = False

    call: ClassVar[str]
    """The method that the user wrote."""

    predicate: Callable[..., Any]

    def __post_init__(self) -> None:
        check_function(self.predicate, self.call)

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


@dataclass(frozen=True)
class Filter(PredicateOperation):
    """The elements for which `predicate` is true."""

    call: ClassVar[str] = "filter"

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return StatelessElements(upstream.open(pass_id), self._next_accepted)

    def _next_accepted(self, elements: Elements) -> Deferred:
        for element in elements:
            value = ComputedElement.of(element)
            if self.accepts(value):
                return value
        raise StopIteration


@dataclass(frozen=True)
class TakeWhile(PredicateOperation):
    """The elements before the first for which `predicate` is false."""

    call: ClassVar[str] = "take_while"

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _LeadingElements(upstream.open(pass_id), self)


class _LeadingElements(StatefulElements):
    own_state = "_is_over"

    def __init__(self, upstream: Elements, operation: TakeWhile) -> None:
        self._upstream, self._operation = upstream, operation
        self._is_over = False

    def __next__(self) -> Deferred:
        if not self._is_over:
            for element in self._upstream:
                value = ComputedElement.of(element)
                if self._operation.accepts(value):
                    return value
                break
            self._is_over = True
        raise StopIteration
