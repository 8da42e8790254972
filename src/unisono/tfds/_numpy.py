"""`as_numpy`: datasets as NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from unisono._src.data.dataset import Dataset
from unisono._src.data.plans import map_leaves


def as_numpy(dataset: Any) -> Any:
    """Converts to NumPy arrays: a dataset becomes an iterable of arrays; dicts and lists keep their structure."""
    match dataset:
        case Dataset():
            return _NumpyIterable(dataset)
        case dict():
            return {key: as_numpy(part) for key, part in dataset.items()}
        case list() | tuple():
            return type(dataset)(as_numpy(part) for part in dataset)
    return _to_numpy(dataset)


class _NumpyIterable:
    """The elements of a dataset as NumPy arrays. Can be iterated over several times."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def __iter__(self) -> Iterator[Any]:
        return (map_leaves(_to_numpy, element) for element in self._dataset)

    def __len__(self) -> int:
        return len(self._dataset)


def _to_numpy(leaf: Any) -> Any:
    return np.asarray(leaf)[()]
