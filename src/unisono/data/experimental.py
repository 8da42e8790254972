"""tf.data.experimental: the older home of what has moved to `unisono.data`, and what never left it."""

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
    """For `apply`: the dataset has so many elements; an error while it is read if it has not.

    >>> from unisono.data import Dataset
    >>> len(Dataset.range(10).filter(lambda x: x < 3).apply(assert_cardinality(3)))
    3
    """
    return lambda dataset: dataset.then(AssertCardinality(expected_cardinality))


def cardinality(dataset: Dataset) -> int:
    """`dataset.cardinality()`."""
    return dataset.cardinality()
