"""`tf.io.RaggedFeature`: a feature of examples with any number of values, parsed as a ragged tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from unisono._src.data import files
from unisono.tf._dtypes import as_dtype
from unisono.tf._tensors import to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import is_ragged
from unisono.tf.ragged._ragged_tensor import RaggedTensor

UNKNOWN_PARTITION = """tf.io.RaggedFeature: partitions has {found!r}. Expected tf.io.RaggedFeature.RowSplits(key),
RowLengths, RowStarts, RowLimits, ValueRowIds or UniformRowLength."""


class RowSplits(NamedTuple):
    """Row splits are in the feature ``key``."""

    key: str


class RowLengths(NamedTuple):
    """Row lengths are in the feature ``key``."""

    key: str


class RowStarts(NamedTuple):
    """The beginnings of rows are in the feature ``key``."""

    key: str


class RowLimits(NamedTuple):
    """The ends of rows are in the feature ``key``."""

    key: str


class ValueRowIds(NamedTuple):
    """The row of each value is in the feature ``key``."""

    key: str


class UniformRowLength(NamedTuple):
    """All rows have this length."""

    length: int


class RaggedFeature:
    """A feature with any number of values.

    Args:
        dtype: the dtype of the values.
        value_key: the name of the feature in the examples; that in the dict of features if None.
        partitions: further ragged dims, the outermost first: `RaggedFeature.RowSplits("splits")` and related classes.
        row_splits_dtype: accepted; row splits have 64 bits.
        validate: whether partitions are checked.
    """

    RowSplits, RowLengths, RowStarts, RowLimits = RowSplits, RowLengths, RowStarts, RowLimits
    ValueRowIds, UniformRowLength = ValueRowIds, UniformRowLength

    def __init__(
        self,
        dtype: Any,
        value_key: str | None = None,
        partitions: Sequence[Any] = (),
        row_splits_dtype: Any = "int32",
        validate: bool = False,
    ) -> None:
        self.dtype, self.value_key, self.partitions = as_dtype(dtype), value_key, tuple(partitions)
        for each in self.partitions:
            if not isinstance(each, RowSplits | RowLengths | RowStarts | RowLimits | ValueRowIds | UniformRowLength):
                raise TypeError(UNKNOWN_PARTITION.format(found=each))


def only(features: Mapping[str, Any]) -> dict[str, RaggedFeature]:
    """The ragged ones of some features."""
    return {key: feature for key, feature in features.items() if isinstance(feature, RaggedFeature)}


def sources(features: Mapping[str, RaggedFeature]) -> dict[str, files.VarLenFeature]:
    """The features of examples that these are made of."""
    found = {}
    for key, feature in features.items():
        found[feature.value_key or key] = files.VarLenFeature(feature.dtype.dtype)
        for each in feature.partitions:
            if not isinstance(each, UniformRowLength):
                found[each.key] = files.VarLenFeature(np.dtype(np.int64))
    return found


def build(feature: RaggedFeature, key: str, columns: Mapping[str, Any]) -> Any:
    """The feature of one example: dense, unless it has partitions."""
    values: Any = to_host_tensor(columns[feature.value_key or key])
    for each in reversed(feature.partitions):
        values = _partition(values, each, columns)
    return values


def build_batch(feature: RaggedFeature, key: str, columns: Sequence[Mapping[str, Any]]) -> Any:
    """The feature of several examples, with a row for each."""
    rows = [build(feature, key, each) for each in columns]
    if is_ragged(rows[0]):
        return RaggedTensor.stack_leaves(rows)
    lengths = np.array([row.shape[0] for row in rows], np.int64)
    joined = to_host_tensor(np.concatenate([np.asarray(row) for row in rows]))
    return RaggedTensor(joined, partition.splits_from_lengths(lengths))


def _partition(values: Any, how: Any, columns: Mapping[str, Any]) -> Any:
    if isinstance(how, UniformRowLength):
        return RaggedTensor.from_uniform_row_length(values, how.length)
    numbers = np.asarray(columns[how.key])
    make: Any = {
        RowSplits: RaggedTensor.from_row_splits,
        RowLengths: RaggedTensor.from_row_lengths,
        RowStarts: RaggedTensor.from_row_starts,
        RowLimits: RaggedTensor.from_row_limits,
        ValueRowIds: RaggedTensor.from_value_rowids,
    }[type(how)]
    return make(values, numbers)
