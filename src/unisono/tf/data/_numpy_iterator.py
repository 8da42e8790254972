"""`dataset.as_numpy_iterator()`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unisono.tf.data._tensors import as_numpy


class NumpyIterator:
    """Elements as NumPy has them: numbers, arrays, and bytes for text."""

    def __init__(self, dataset: Any) -> None:
        self._elements: Iterator[Any] = iter(dataset)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return as_numpy(next(self._elements))

    def next(self) -> Any:
        """The next element."""
        return next(self)
