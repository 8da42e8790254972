"""Helpers of the tests of loops: a strategy of N replicas, the index of a replica, the values of each replica."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

import unisono
from unisono._src.strategy import Strategy
from unisono.data import Dataset


@functools.cache
def mirrored(number: int) -> Strategy:
    """One object for all tests: compiled programs are kept per strategy."""
    return unisono.MirroredStrategy([f"cpu:{index}" for index in range(number)])


def replica_id(dtype: str = "float32") -> Any:
    """The number of the replica whose code calls it, inside `run`."""
    return unisono.get_replica_context().replica_id_in_sync_group.astype(dtype)


def local(strategy: Strategy, value: Any) -> list[Any]:
    """The value of each replica, as Python numbers and lists."""
    return [np.asarray(each).tolist() for each in strategy.experimental_local_results(value)]


def per_replica(strategy: Strategy, values: Iterable[Any]) -> Any:
    """`values[i]` for replica i."""
    given = list(values)
    return strategy.experimental_distribute_values_from_function(lambda own: given[own.replica_id_in_sync_group])


def rows(strategy: Strategy, value: Any) -> list[Any]:
    """The rows of all replicas, concatenated."""
    return [row for each in local(strategy, value) for row in each]


def batches(strategy: Strategy, data: Any, global_batch_size: int, **options: Any) -> Any:
    """`data` in rows, distributed in global batches."""
    return strategy.experimental_distribute_dataset(
        Dataset.from_tensor_slices(data).batch(global_batch_size, **options)
    )


def copies(variable: Any) -> list[Any]:
    """The value of each replica's copy."""
    return [np.asarray(value).tolist() for value in variable.values]
