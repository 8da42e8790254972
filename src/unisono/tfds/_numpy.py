"""Datasets as NumPy's arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from unisono._src.data.dataset import Dataset
from unisono._src.data.plans import map_leaves


def as_numpy(dataset: Any) -> Any:
    """The same with NumPy's arrays: a dataset becomes something to iterate over; dicts and lists stay what they are."""
    match dataset:
        case Dataset():
            return _Rows(dataset)
        case dict():
            return {key: as_numpy(part) for key, part in dataset.items()}
        case list() | tuple():
            return type(dataset)(as_numpy(part) for part in dataset)
    return _array(dataset)


class _Rows:
    """The elements of a dataset, as often as they are asked for."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def __iter__(self) -> Iterator[Any]:
        return (map_leaves(_array, element) for element in self._dataset)

    def __len__(self) -> int:
        return len(self._dataset)


def _array(leaf: Any) -> Any:
    return np.asarray(leaf)[()]
