"""Where elements come from. So far: the rows of arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from unisono.plans._nest import Nest, flatten, is_leaf, leaf_names, map_leaves, unflatten
from unisono.plans._operation import Deferred, Path


class Source(ABC):
    """The first member of a plan."""

    @property
    @abstractmethod
    def cardinality(self) -> int:
        """The number of elements in one pass."""

    @abstractmethod
    def elements(self, path: Path) -> Iterator[Deferred]:
        """The elements of one pass."""

    @abstractmethod
    def __str__(self) -> str:
        """A few words for `repr(dataset)`, such as `60000 rows`."""


@dataclass(frozen=True, eq=False)
class ArraySlices(Source):
    """The rows of a nest of arrays with equal first dimensions.

    NumPy and JAX arrays are kept as they are, everything else becomes a NumPy array. A list is data, not a
    container, as in tf.data: `[1, 2, 3]` is three rows.

    >>> source = ArraySlices((np.zeros((3, 28, 28)), [7, 8, 9]))
    >>> source.num_rows
    3
    """

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

    @property
    def num_rows(self) -> int:
        """The first dimension that all arrays share."""
        return int(flatten(self.arrays)[0].shape[0])

    @property
    def cardinality(self) -> int:
        return self.num_rows

    def elements(self, path: Path) -> Iterator[Deferred]:
        leaves = [_read_only(leaf) for leaf in flatten(self.arrays)]
        for row in range(self.num_rows):
            yield partial(self._element, leaves, row)

    def _element(self, leaves: list[np.ndarray[Any, Any]], row: int) -> Nest:
        # `...` gives arrays of no dimension instead of NumPy scalars: a map function always sees arrays.
        return unflatten(self.arrays, [leaf[row, ...] for leaf in leaves])

    def __str__(self) -> str:
        return f"{self.num_rows} rows"


def _is_data(nest: Nest) -> bool:
    return is_leaf(nest) or isinstance(nest, list)


def _as_array(leaf: Any, name: str) -> Any:
    # A jax.Array, known by its shards since this layer may not import JAX, stays on its device.
    if isinstance(leaf, np.ndarray) or hasattr(leaf, "addressable_shards"):
        array: Any = leaf
    else:
        try:
            array = np.asarray(leaf)
        except ValueError as error:
            raise ValueError(
                f"from_tensor_slices: {name} is not one array ({_first_line(error)}). Several arrays that go "
                f"together are a tuple, from_tensor_slices((x, y)); pad rows of different lengths first."
            ) from error
    if array.dtype.hasobject:
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
    if expected == 0:
        raise ValueError(
            f"from_tensor_slices: there is no data, {names[0]} has shape {leaves[0].shape}. Expected "
            f"at least one row: look at the slice, the filter or the file that these arrays come from."
        )


def _read_only(leaf: Any) -> np.ndarray[Any, Any]:
    # Elements are views. A map that writes into its argument would change the user's data, and would not
    # trace.
    view = np.asarray(leaf).view()
    view.flags.writeable = False
    return view


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
