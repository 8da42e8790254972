"""Partitioners: into how many parts a variable is split, so that several parameter servers share it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono._src.state.store import dtype_from_name


class Partitioner(ABC):
    """Says how a variable is split: the number of parts along each dimension.

    A subclass implements :meth:`__call__`. Variables of layers are split along their first dimension.
    """

    @abstractmethod
    def __call__(self, shape: Sequence[int], dtype: Any, axis: int = 0) -> list[int]:
        """The number of parts along each dimension of a variable of this shape."""


class FixedShardsPartitioner(Partitioner):
    """The same number of parts for every variable that has as many rows.

    >>> FixedShardsPartitioner(num_shards=2)((10, 3), "float32")
    [2, 1]
    """

    def __init__(self, num_shards: int) -> None:
        self._num_shards = _positive(num_shards, "num_shards")

    def __call__(self, shape: Sequence[int], dtype: Any, axis: int = 0) -> list[int]:
        """See :class:`Partitioner`."""
        del dtype
        return _along(shape, axis, self._num_shards)


class MinSizePartitioner(Partitioner):
    """As many parts as there can be of at least ``min_shard_bytes`` each.

    >>> MinSizePartitioner(min_shard_bytes=4, max_shards=2)((6, 1), "float32")
    [2, 1]
    """

    def __init__(self, min_shard_bytes: int = 256 << 10, max_shards: int = 1, bytes_per_string: int = 16) -> None:
        self._min_bytes = _positive(min_shard_bytes, "min_shard_bytes")
        self._max_shards = _positive(max_shards, "max_shards")
        self._bytes_per_string = _positive(bytes_per_string, "bytes_per_string")

    def __call__(self, shape: Sequence[int], dtype: Any, axis: int = 0) -> list[int]:
        """See :class:`Partitioner`."""
        number = _num_bytes(shape, dtype, self._bytes_per_string) // self._min_bytes
        return _along(shape, axis, min(number, self._max_shards))


class MaxSizePartitioner(Partitioner):
    """As few parts as there can be of at most ``max_shard_bytes`` each.

    >>> MaxSizePartitioner(max_shard_bytes=4)((6, 1), "float32")
    [6, 1]
    """

    def __init__(self, max_shard_bytes: int, max_shards: int | None = None, bytes_per_string: int = 16) -> None:
        self._max_bytes = _positive(max_shard_bytes, "max_shard_bytes")
        self._max_shards = None if max_shards is None else _positive(max_shards, "max_shards")
        self._bytes_per_string = _positive(bytes_per_string, "bytes_per_string")

    def __call__(self, shape: Sequence[int], dtype: Any, axis: int = 0) -> list[int]:
        """See :class:`Partitioner`."""
        if not shape or shape[axis] == 0:
            return [1] * len(shape)
        row_bytes = _num_bytes(shape, dtype, self._bytes_per_string) / shape[axis]
        rows = max(1, int(self._max_bytes // row_bytes))
        number = math.ceil(shape[axis] / rows)
        return _along(shape, axis, number if self._max_shards is None else min(number, self._max_shards))


def _along(shape: Sequence[int], axis: int, number: int) -> list[int]:
    parts = [1] * len(shape)
    if shape:
        parts[axis] = max(1, min(number, shape[axis]))
    return parts


def _num_bytes(shape: Sequence[int], dtype: Any, bytes_per_string: int) -> int:
    name = str(getattr(dtype, "name", dtype))
    return math.prod(shape) * (bytes_per_string if name in ("string", "str") else dtype_from_name(name).itemsize)


def _positive(value: Any, name: str) -> int:
    if not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} is {value!r}; expected a whole number of at least 1.")
    return int(value)
