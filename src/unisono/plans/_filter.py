"""filter: the elements for which a function says yes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono.plans._cardinality import UNKNOWN_CARDINALITY
from unisono.plans._identity import Computed
from unisono.plans._map import apply, check_function, function_name
from unisono.plans._nest import Nest
from unisono.plans._operation import Deferred, Elements, Operation, Path, State, Upstream


@dataclass(frozen=True)
class Filter(Operation):
    """The elements of which `predicate` is true."""

    predicate: Callable[..., Any]

    def __post_init__(self) -> None:
        check_function(self.predicate, "filter")

    @property
    def keeps_access(self) -> bool:
        return False

    def cardinality(self, upstream: int) -> int:
        return UNKNOWN_CARDINALITY if upstream else 0

    def elements(self, upstream: Upstream, path: Path) -> Elements:
        return _Filtered(upstream.open(path), self)

    def __str__(self) -> str:
        return f"filter({function_name(self.predicate)})"


def verdict(predicate: Callable[..., Any], element: Nest, operation: Operation) -> bool:
    """The predicate's answer for one element, which must be one truth value."""
    answer = np.asarray(apply(predicate, element))
    if answer.shape != () or answer.dtype != np.bool_:
        raise TypeError(
            f"{operation}: the function must return one true or false for an element, but it returned an array of "
            f"shape {answer.shape} and dtype {answer.dtype}. Compare, and use .any() or .all(): x.sum() > 0."
        )
    return bool(answer)


class _Filtered(Elements):
    def __init__(self, upstream: Elements, operation: Filter) -> None:
        self._upstream, self._operation = upstream, operation

    def __next__(self) -> Deferred:
        for element in self._upstream:
            value = Computed(element())
            if verdict(self._operation.predicate, value.value, self._operation):
                return value
        raise StopIteration

    def get_state(self) -> State:
        return self._upstream.get_state()

    def set_state(self, state: State) -> None:
        self._upstream.set_state(state)

    def close(self) -> None:
        self._upstream.close()
