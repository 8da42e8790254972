"""scan: a map that carries a state from element to element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unisono._src.data.plans._arguments import check_function, function_name
from unisono._src.data.plans._element_file import leaf_as_json, leaf_from_json
from unisono._src.data.plans._identity import ComputedElement
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._map import as_arrays
from unisono._src.data.plans._nest import Nest, flatten, map_leaves, unflatten
from unisono._src.data.plans._operation import Deferred, Elements, Operation, PassId, State, Upstream


@dataclass(frozen=True, eq=False)
class Scan(Operation):
    """`function(state, element)` returns `(new state, result)`; the results are the elements."""

    keeps_random_access = False

    initial_state: Nest
    function: Callable[[Any, Any], Any]

    def __post_init__(self) -> None:
        check_function(self.function, "scan")

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _ScannedElements(upstream.open(pass_id), self)

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        return inspection.observe()

    def __str__(self) -> str:
        return f"scan({function_name(self.function)})"


class _ScannedElements(Elements):
    def __init__(self, upstream: Elements, operation: Scan) -> None:
        self._upstream, self._operation = upstream, operation
        self._carry = as_arrays(operation.initial_state, operation)

    def __next__(self) -> Deferred:
        element = next(self._upstream)()
        result = self._operation.function(self._carry, element)
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(f"{self._operation}: the function must return (new_state, element), not {result!r}.")
        carry, value = as_arrays(result, self._operation)
        check_state_type(self._carry, carry, self._operation)
        self._carry = carry
        return ComputedElement(value)

    def get_state(self) -> State:
        return {"carry": [leaf_as_json(leaf) for leaf in flatten(self._carry)], "input": self._upstream.get_state()}

    def set_state(self, state: State) -> None:
        self._carry = unflatten(self._carry, map(leaf_from_json, state["carry"]))
        self._upstream.set_state(state["input"])

    def close(self) -> None:
        self._upstream.close()


def check_state_type(before: Nest, after: Nest, operation: Operation) -> None:
    """Refuses a state that does not keep its structure and dtypes; its shapes may change."""
    kinds = [map_leaves(lambda leaf: None if leaf is None else str(leaf.dtype), state) for state in (before, after)]
    if kinds[0] != kinds[1]:
        raise TypeError(
            f"{operation}: the state was {kinds[0]}, and the function returned {kinds[1]}. It must keep its structure "
            f"and dtypes: begin with one of the right dtype, such as np.float32(0), or cast in the function."
        )
