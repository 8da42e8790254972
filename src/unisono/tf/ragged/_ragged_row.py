"""A dense row of a ragged tensor as an element of a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono._src.data.plans import CompositeLeaf
from unisono.tf._dtypes import as_dtype
from unisono.tf._tensors import to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import concat_rows
from unisono.tf.ragged._spec import RaggedTensorSpec


class RaggedRow(CompositeLeaf):
    """A dense row of a ragged tensor as an element of a dataset: other elements may have other lengths, and a batch of
    them is ragged. Users see the array."""

    def __init__(self, array: Any) -> None:
        self.array = to_host_tensor(array)

    @property
    def shape(self) -> Any:
        """The shape of the array."""
        return self.array.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the array."""
        return self.array.dtype

    def leaf_spec(self) -> RaggedTensorSpec:
        """A ragged tensor without a ragged dim."""
        return RaggedTensorSpec([None, *self.shape[1:]], as_dtype(self.dtype), 0)

    def to_host(self) -> RaggedRow:
        """It is on the host."""
        return self

    def file_parts(self) -> tuple[str, list[Any], Any]:
        """The array, without row splits."""
        return "ragged", [self.array], []

    def present(self) -> Any:
        """The array."""
        return self.array

    def take_row(self, row: int) -> Any:
        """One value."""
        return np.asarray(self.array)[row, ...]

    def take_rows(self, rows: Any) -> Any:
        """Several values."""
        return RaggedRow(self.array[rows])

    @classmethod
    def stack_leaves(cls, leaves: Sequence[Any]) -> Any:
        """A ragged tensor of several rows."""
        lengths = np.array([leaf.array.shape[0] for leaf in leaves], np.int64)
        values = concat_rows([leaf.array for leaf in leaves])
        return RaggedTensorSpec.value_type(values, partition.splits_from_lengths(lengths))

    @classmethod
    def concatenate_leaves(cls, leaves: Sequence[Any]) -> Any:
        """One row after the other."""
        return RaggedRow(concat_rows([leaf.array for leaf in leaves]))
