"""`tf.compat.v1.data`: `tf.data`, and the TensorFlow 1 functions for iterators."""

from __future__ import annotations

from typing import Any, Self

from unisono._src.data.plans import map_leaves
from unisono._src.strategy import DistributedDataset
from unisono.tf._spec import as_tf_spec
from unisono.tf.compat.v1._tf2_names import names_from_tf2 as _names_from_tf2


def make_one_shot_iterator(dataset: Any) -> Any:
    """Returns `iter(dataset)`."""
    return iter(dataset)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """Returns the shapes of the elements."""
    return map_leaves(lambda spec: spec.shape, as_tf_spec(dataset_or_iterator.element_spec))


def get_output_types(dataset_or_iterator: Any) -> Any:
    """Returns the dtypes of the elements."""
    return map_leaves(lambda spec: spec.dtype, as_tf_spec(dataset_or_iterator.element_spec))


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Any:
    """Returns an iterator with `initialize()`, or `initializer`, which begin a new pass over a dataset."""
    if isinstance(dataset, DistributedDataset):
        return iter(dataset)
    return _InitializableIterator(dataset)


class _InitializableIterator:
    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.initialize()

    def initialize(self) -> None:
        """Begins a new pass."""
        self._iterator = iter(self._dataset)

    @property
    def initializer(self) -> None:
        """Begins a new pass: eagerly there is no operation that a session could run."""
        self.initialize()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        return next(self._iterator)

    def get_next(self, name: str | None = None) -> Any:
        """The next element; at the end an OutOfRangeError."""
        return self._iterator.get_next()

    @property
    def element_spec(self) -> Any:
        """That of the dataset."""
        return self._dataset.element_spec


__getattr__ = _names_from_tf2("tf.compat.v1.data", "unisono.tf.data")
