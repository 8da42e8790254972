"""Leaves of elements that are several arrays, such as rows of different lengths, and their specs.

Operations of plans treat every other leaf as one array. `unisono.tf` has the classes of ragged and sparse tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Self

import numpy as np

from unisono._src.data.plans._nest import map_leaves


class CompositeSpec:
    """What a composite leaf looks like. None is a dimension that may vary."""

    shape: Any
    dtype: Any

    def has_rows(self) -> bool:
        """Whether such leaves have at least one dim."""
        return bool(self.shape)

    def num_rows(self) -> int | None:
        """How many rows such leaves have, if that is known."""
        count: int | None = self.shape[0]
        return count

    def batched(self, num_rows: int | None) -> CompositeSpec:
        """The spec of such leaves stacked."""
        raise NotImplementedError

    def unbatched(self) -> Any:
        """The spec of a row of such a leaf."""
        raise NotImplementedError

    def with_shape(self, shape: Sequence[int | None]) -> CompositeSpec:
        """The same kind of leaf in another shape of equally many dims."""
        raise NotImplementedError

    def with_open_dims(self, sizes: set[int]) -> CompositeSpec:
        """The same with None for dimensions of these sizes, and for the number of rows, which may differ as well."""
        return self.with_shape([None if not axis or dim in sizes else dim for axis, dim in enumerate(self.shape)])

    def merged(self, other: Any) -> CompositeSpec:
        """What leaves of either spec look like."""
        dims = zip(self.shape, other.shape, strict=True)
        return self.with_shape([one if one == two else None for one, two in dims])

    def check(self, leaf: Any, where: str) -> Any:
        """The leaf, if it fits this spec; else an error that says where it is."""
        raise NotImplementedError


class CompositeLeaf:
    """A leaf that is several arrays. Its first dim is that of the rows."""

    shape: Any

    def leaf_spec(self) -> CompositeSpec:
        """What it looks like."""
        raise NotImplementedError

    def to_host(self) -> Self:
        """The same with NumPy arrays."""
        raise NotImplementedError

    def present(self) -> Any:
        """What users see of it."""
        return self

    def count_rows(self) -> int:
        """The number of rows."""
        return int(self.shape[0])

    def has_rows(self) -> bool:
        """Whether it has at least one dim."""
        return bool(self.shape)

    def model_input(self) -> Any:
        """What a model gets of it: one array, `PaddedRagged`, or the leaf itself."""
        return self

    def dense(self) -> Any:
        """One array: padded rows, or zeros where there is no value. The leaf itself if there is no such array."""
        return self

    def file_parts(self) -> tuple[str, list[Any], Any]:
        """The name of its kind, its arrays, and what else has to be kept of it as JSON."""
        raise TypeError(f"An element holds a {type(self).__name__}, which cannot be kept in a file.")

    def take_row(self, row: int) -> Any:
        """One row, such that `stack_leaves` of rows is the leaf again."""
        raise NotImplementedError

    def take_rows(self, rows: Any) -> Any:
        """Several rows: a slice or an array of numbers."""
        raise NotImplementedError

    @classmethod
    def stack_leaves(cls, leaves: Sequence[Any]) -> Any:
        """Several leaves as one, with one row for each."""
        raise NotImplementedError

    @classmethod
    def concatenate_leaves(cls, leaves: Sequence[Any]) -> Any:
        """The rows of several leaves in one."""
        raise NotImplementedError


_file_kinds: Final[dict[str, Callable[[list[Any], Any], Any]]] = {}


def register_file_kind(name: str, make: Callable[[list[Any], Any], Any]) -> None:
    """From now on files may hold leaves of this kind: ``make(arrays, about)`` restores one."""
    _file_kinds[name] = make


def leaf_from_parts(name: str, arrays: list[Any], about: Any) -> Any:
    """The leaf that gave these `file_parts`."""
    if name not in _file_kinds:
        raise ValueError(f"The file holds {name} tensors. Import unisono.tf before it is read.")
    return _file_kinds[name](arrays, about)


class PaddedRagged:
    """Rows of different lengths as a dict of two arrays, which every nest of arrays can hold."""

    _ROWS, _LENGTHS = "unisono_padded_rows", "unisono_row_lengths"

    @classmethod
    def make(cls, rows: Any, lengths: Any) -> dict[str, Any]:
        """The dict of padded rows and of the lengths that they had."""
        return {cls._ROWS: rows, cls._LENGTHS: lengths}

    @classmethod
    def is_in(cls, value: Any) -> bool:
        """Whether a value is such a dict."""
        return isinstance(value, dict) and cls._ROWS in value

    @classmethod
    def parts(cls, value: dict[str, Any]) -> tuple[Any, Any]:
        """The padded rows and the lengths."""
        return value[cls._ROWS], value[cls._LENGTHS]


def as_model_batch(batch: Any) -> Any:
    """A batch of a dataset as a step takes it: `(x, y, sample_weight)` or `x`, of arrays only.

    Inputs keep the lengths of their rows. Labels and weights are padded: they do not count where outputs are masked.
    """
    if isinstance(batch, tuple) and not hasattr(batch, "_fields"):
        return tuple(_as_arrays(part, is_input=not number) for number, part in enumerate(batch))
    return _as_arrays(batch, is_input=True)


def _as_arrays(nest: Any, is_input: bool) -> Any:
    return map_leaves(
        lambda leaf: leaf if not isinstance(leaf, CompositeLeaf) else leaf.model_input() if is_input else leaf.dense(),
        nest,
    )


def take_leaf_row(leaf: Any, row: int) -> Any:
    """A row of any leaf."""
    return leaf.take_row(row) if isinstance(leaf, CompositeLeaf) else leaf[row, ...]


def concatenate_leaves(leaves: Sequence[Any]) -> Any:
    """The rows of several leaves of one kind in one."""
    first = leaves[0]
    return type(first).concatenate_leaves(leaves) if isinstance(first, CompositeLeaf) else np.concatenate(leaves)


def count_leaf_rows(leaf: Any) -> int:
    """The number of rows of any leaf."""
    return leaf.count_rows() if isinstance(leaf, CompositeLeaf) else int(leaf.shape[0])


def has_rows(leaf: Any) -> bool:
    """Whether a leaf has at least one dim."""
    return leaf.has_rows() if isinstance(leaf, CompositeLeaf) else bool(getattr(leaf, "ndim", 0))
