"""The rows of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from unisono._src.data.plans._identity import pass_number, set_identity
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._nest import Nest, flatten, is_leaf, leaf_names, map_leaves, unflatten
from unisono._src.data.plans._operation import Elements, PassId
from unisono._src.data.plans._passes import NumberedElements
from unisono._src.data.plans._row_arrays import as_read_only
from unisono._src.data.plans._row_plan import RowPlan
from unisono._src.data.plans._source import Source
from unisono._src.data.plans._spec import TensorSpec


@dataclass(frozen=True, eq=False)
class ArraySlices(Source):
    """The rows of a nest of arrays with equal first dimensions.

    NumPy and JAX arrays are kept as they are, everything else becomes a NumPy array. A list is data, not a
    container, as in tf.data: `[1, 2, 3]` is three rows.

    >>> source = ArraySlices((np.zeros((3, 28, 28)), [7, 8, 9]))
    >>> source.num_rows
    3
    """

    random_access = True
    gives_single_rows = True

    arrays: Nest

    def __post_init__(self) -> None:
        names = leaf_names(map_leaves(lambda _: None, self.arrays, stop=_is_data), "tensors")
        if not names:
            raise ValueError(
                f"from_tensor_slices got {self.arrays!r}, which holds no array. "
                f"Pass an array, or a tuple or dict of arrays: from_tensor_slices((x, y))."
            )
        following = iter(names)
        arrays = map_leaves(lambda leaf: _as_array(leaf, next(following)), self.arrays, stop=_is_data)
        _check_rows(flatten(arrays), names)
        object.__setattr__(self, "arrays", arrays)

    @staticmethod
    def of_one(tensors: Nest) -> ArraySlices:
        """A source with one element: all of `tensors`."""
        return ArraySlices(map_leaves(_add_row_dim, tensors, stop=_is_data))

    @property
    def num_rows(self) -> int:
        """The first dimension that all arrays share."""
        return int(flatten(self.arrays)[0].shape[0])

    @property
    def cardinality(self) -> int:
        return self.num_rows

    def elements(self, pass_id: PassId) -> Elements:
        leaves = [as_read_only(leaf) for leaf in flatten(self.arrays)]
        return NumberedElements(self.num_rows, partial(partial, self._element, leaves, pass_number(pass_id)))

    def _element(self, leaves: list[np.ndarray[Any, Any]], epoch: int, row: int) -> Nest:
        set_identity(epoch, row)
        # `...` gives arrays of no dimension instead of NumPy scalars: a map function always sees arrays.
        return unflatten(self.arrays, [leaf[row, ...] for leaf in leaves])

    def element_spec(self, inspection: Inspection) -> Nest:
        return map_leaves(lambda array: TensorSpec(array.shape[1:], array.dtype), self.arrays)

    def as_rows(self) -> RowPlan | None:
        return RowPlan.of_arrays(self.arrays, self.num_rows)

    def __str__(self) -> str:
        return f"{self.num_rows} row{'' if self.num_rows == 1 else 's'}"


def _is_data(nest: Nest) -> bool:
    return is_leaf(nest) or isinstance(nest, list)


def _as_array(leaf: Any, name: str) -> Any:
    # A jax.Array, recognised by its shards since this package may not import JAX, stays on its device.
    if isinstance(leaf, np.ndarray) or hasattr(leaf, "addressable_shards"):
        array: Any = leaf
    else:
        try:
            array = _keep_trailing_zeros(np.asarray(leaf), leaf)
        except ValueError as error:
            raise ValueError(
                f"from_tensor_slices: {name} is not one array ({_first_line(error)}). Several arrays that go "
                f"together are a tuple, from_tensor_slices((x, y)); pad rows of different lengths first."
            ) from error
    if array.dtype.hasobject and array.size and all(isinstance(item, str) for item in array.flat):
        array = array.astype(str)  # a column of text, as pandas has it
    if array.dtype.hasobject and not all(isinstance(item, bytes) for item in array.flat):
        raise TypeError(
            f"from_tensor_slices: {name} ({type(leaf).__name__}) has dtype object: its rows are ragged, "
            f"mixed or missing. Expected numbers, booleans or strings, all rows of one shape. Pad rows of "
            f"different lengths, give {name} a dtype with .astype(...), or leave it out."
        )
    if array.ndim == 0:
        raise ValueError(
            f"from_tensor_slices: {name} is the single value {leaf!r}, which has no rows. "
            f"Expected at least one dimension, the rows: write [{leaf!r}] for one row."
        )
    return array


def _check_rows(leaves: list[Any], names: list[str]) -> None:
    expected = leaves[0].shape[0]
    for leaf, name in zip(leaves, names, strict=True):
        if leaf.shape[0] != expected:
            raise ValueError(
                f"from_tensor_slices: {names[0]} has {expected} rows (shape {leaves[0].shape}), but {name} "
                f"has {leaf.shape[0]} (shape {leaf.shape}). All arrays need the same first dimension: "
                f"cut both to {min(expected, leaf.shape[0])} rows, or find the missing ones."
            )


def _add_row_dim(leaf: Any) -> Any:
    array = leaf if hasattr(leaf, "addressable_shards") else _keep_trailing_zeros(np.asarray(leaf), leaf)
    return array[None]


def _keep_trailing_zeros(array: np.ndarray[Any, Any], leaf: Any) -> np.ndarray[Any, Any]:
    """NumPy's own type for byte strings drops zeros at their ends: Python's bytes are kept as they are."""
    if array.dtype.kind != "S" or isinstance(leaf, np.ndarray):
        return array
    return np.array(leaf, dtype=object)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
