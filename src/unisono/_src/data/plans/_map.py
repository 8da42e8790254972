"""map: a function of each element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from unisono._src.data.files import bytes_scalar
from unisono._src.data.plans._arguments import check_function, function_name
from unisono._src.data.plans._composite_leaf import CompositeLeaf
from unisono._src.data.plans._identity import RandomDraws
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._nest import Nest, apply, map_leaves
from unisono._src.data.plans._nested_dataset import is_dataset
from unisono._src.data.plans._operation import Deferred, Elements, Operation, PassId, Upstream
from unisono._src.data.plans._passes import map_deferred
from unisono._src.data.plans._seeds import draw_map_seed

if TYPE_CHECKING:
    from unisono._src.data.plans._row_plan import RowPlan


@dataclass(frozen=True)
class Map(Operation):
    """`function` applied to each element; a tuple is spread over its arguments."""

    keeps_random_access = True

    function: Callable[..., Any]
    num_parallel_calls: int | None = None
    """How many calls may run at once; -1 leaves the number to the executor. None: one after the other, in order."""
    seed: int = field(default_factory=draw_map_seed)
    """Of the random numbers that the function draws."""

    def __post_init__(self) -> None:
        check_function(self.function, "map")

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return map_deferred(upstream.open(pass_id), partial(partial, self._map))

    def _map(self, element: Deferred) -> Nest:
        value = element()
        with RandomDraws(self.seed):
            result = apply(self.function, value)
        return as_arrays(result, self)

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        return inspection.trace(self.function, self.seed)

    def on_rows(self, rows: RowPlan) -> RowPlan:
        return rows.then_map(self.function, self.seed, self.num_parallel_calls)

    def __str__(self) -> str:
        return f"map({function_name(self.function)})"


def as_arrays(result: Nest, operation: object) -> Nest:
    """What a user's function returned, with NumPy arrays for leaves."""

    def as_array(leaf: Any) -> Any:
        if type(leaf) is np.ndarray and not leaf.dtype.hasobject:
            return leaf
        if leaf is None or is_dataset(leaf):  # a dataset in a dataset, as `window` gives them
            return leaf
        if isinstance(leaf, CompositeLeaf):
            return leaf.to_host()
        if isinstance(leaf, bytes):
            return bytes_scalar(leaf)
        _refuse_sparse(leaf, operation)
        array = np.asarray(leaf)
        if array.dtype.hasobject and not _holds_bytes(array):
            raise TypeError(
                f"{operation} returned {leaf!r} ({type(leaf).__name__}), which is not an array. Expected arrays, "
                f"numbers or strings, alone or in tuples, lists and dicts."
            )
        return array

    return map_leaves(as_array, result)


def _holds_bytes(array: np.ndarray[Any, Any]) -> bool:
    return all(isinstance(item, bytes) for item in array.flat)


def _refuse_sparse(leaf: Any, operation: object) -> None:
    kind = type(leaf).__name__
    if kind in {"SparseTensor", "RaggedTensor", "BCOO", "BCSR"} or hasattr(leaf, "toarray"):
        raise TypeError(
            f"{operation} returned a {kind}: elements are dense arrays. Convert it in the function, with "
            f".toarray() or .todense(); for rows of different lengths return each row and use padded_batch."
        )
