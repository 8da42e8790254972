"""tf.data.experimental: older names of what is now in `unisono.data`, and what has no other name."""

from __future__ import annotations

from collections.abc import Callable

from unisono._src.data.dataset import Dataset
from unisono._src.data.plans import (
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    AssertCardinality,
    AutoShardPolicy,
    DistributeOptions,
)

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "DistributeOptions",
    "assert_cardinality",
    "cardinality",
]


def assert_cardinality(expected_cardinality: int) -> Callable[[Dataset], Dataset]:
    """For `apply`: states the number of elements; raises an error while the dataset is read if it is wrong.

    >>> from unisono.data import Dataset
    >>> len(Dataset.range(10).filter(lambda x: x < 3).apply(assert_cardinality(3)))
    3
    """
    return lambda dataset: dataset._then(AssertCardinality(expected_cardinality))


def cardinality(dataset: Dataset) -> int:
    """`dataset.cardinality()`."""
    return dataset.cardinality()
