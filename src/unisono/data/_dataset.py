"""Dataset: tf.data's methods over a plan."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from unisono.data._element_spec import Description, describe
from unisono.data._trace import FOREIGN_KINDS
from unisono.plans import (
    INFINITE_CARDINALITY,
    ArraySlices,
    Batch,
    Cache,
    Map,
    Nest,
    Operation,
    Plan,
    Prefetch,
    Repeat,
    Shuffle,
    flatten,
    iterate,
    unflatten,
)


class Dataset:
    """Elements, and what is to be done to them: each method returns a new dataset and computes nothing.

    >>> import numpy as np
    >>> from unisono.data import Dataset
    >>> images, labels = np.zeros((10, 28, 28), np.uint8), np.arange(10)
    >>> dataset = Dataset.from_tensor_slices((images, labels)).map(lambda x, y: (x / 255, y)).batch(4)
    >>> [len(y) for x, y in dataset]
    [4, 4, 2]

    Arguments named `name`, `num_parallel_calls` and `deterministic` are tf.data's; they are taken and change
    nothing, because maps are compiled where possible and the order is always deterministic.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._iterations = itertools.count()

    @staticmethod
    def from_tensor_slices(tensors: Nest, name: str | None = None) -> Dataset:
        """One element for each row of an array, or of a tuple or dict of arrays with equally many rows.

        >>> [int(x) for x in Dataset.from_tensor_slices([1, 2, 3])]
        [1, 2, 3]
        """
        return Dataset(Plan(ArraySlices(tensors)))

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """`map_func` of each element. A tuple is spread over the arguments, anything else is one argument.

        Where JAX can trace the function it is compiled into the training step. As in tf.data, what it then
        does besides computing (printing, drawing from `numpy.random`) happens once, not once per element.

        >>> dataset = Dataset.from_tensor_slices(([1, 2], [3, 4])).map(lambda x, y: x * y)
        >>> [int(x) for x in dataset]
        [3, 8]
        """
        return self._then(Map(map_func))

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """A random order, a new one in each pass unless `reshuffle_each_iteration` is False.

        Rows of arrays are permuted fully, whatever the buffer size. Without a seed one is drawn from NumPy's
        global generator, so that `keras.utils.set_random_seed` makes the order repeatable.

        >>> dataset = Dataset.from_tensor_slices([1, 2, 3]).shuffle(3, seed=0)
        >>> sorted(int(x) for x in dataset)
        [1, 2, 3]
        """
        return self._then(Shuffle(buffer_size, seed, reshuffle_each_iteration is not False))

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """`batch_size` elements stacked into one. The last batch may be smaller: nothing is lost by default.

        >>> [x.tolist() for x in Dataset.from_tensor_slices([1, 2, 3]).batch(2)]
        [[1, 2], [3]]
        """
        return self._then(Batch(batch_size, drop_remainder))

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """`count` rounds as one pass; None or -1 goes on without end. A shuffle before it reorders each
        round.

        >>> [int(x) for x in Dataset.from_tensor_slices([1, 2]).repeat(2)]
        [1, 2, 1, 2]
        """
        return self._then(Repeat(count))

    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """Elements are computed once and kept in memory.

        >>> len(Dataset.from_tensor_slices([1, 2]).cache())
        2
        """
        if filename:
            raise NotImplementedError(
                f"cache({filename!r}): caching in a file is not there yet. Write cache() to keep the "
                f"elements in memory, or store the arrays with numpy.save and load them with mmap_mode='r'."
            )
        return self._then(Cache())

    def prefetch(self, buffer_size: int, name: str | None = None) -> Dataset:
        """A hint to prepare elements ahead of time; `AUTOTUNE` leaves the number to Unisono.

        >>> from unisono.data import AUTOTUNE
        >>> len(Dataset.from_tensor_slices([1, 2]).prefetch(AUTOTUNE))
        2
        """
        return self._then(Prefetch(buffer_size))

    @property
    def plan(self) -> Plan:
        """The source and the operations, as data."""
        return self._plan

    @property
    def element_spec(self) -> Nest:
        """The shape and dtype of each leaf of an element; None stands for a batch dimension that may vary.

        >>> Dataset.from_tensor_slices([[1.0, 2.0]]).map(lambda x: x.sum()).batch(8).element_spec
        TensorSpec(shape=(None,), dtype=float32)
        """
        return self._spec if self._traced.untraceable else self._traced.spec

    def cardinality(self) -> int:
        """The number of elements in one pass, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.

        >>> Dataset.from_tensor_slices([1, 2]).repeat().cardinality()
        -1
        """
        return self._plan.cardinality

    def next_iteration(self) -> int:
        """0, 1, 2, …: the number of a new pass over this object. Passes with different numbers shuffle
        differently.

        >>> dataset = Dataset.from_tensor_slices([1, 2])
        >>> dataset.next_iteration(), dataset.next_iteration()
        (0, 1)
        """
        return next(self._iterations)

    def as_numpy_iterator(self) -> Iterator[Nest]:
        """The elements of a new pass as NumPy arrays: the same as `iter(dataset)`."""
        return iter(self)

    def __iter__(self) -> Iterator[Nest]:
        elements = iterate(self._plan, self.next_iteration())
        if not any(isinstance(operation, Map) for operation in self._plan.operations):
            return elements
        if self._traced.untraceable:
            return elements
        # NumPy makes float64 of uint8 / 255 where JAX makes float32. Show what the compiled step will see.
        specs = flatten(self._traced.spec)
        return (_with_dtypes(element, specs) for element in elements)

    def __len__(self) -> int:
        number = self.cardinality()
        if number == INFINITE_CARDINALITY:
            raise TypeError(
                f"This dataset has no length, it repeats without end: {self._plan}. "
                f"Write repeat(count), or tell fit where an epoch ends: steps_per_epoch=..."
            )
        if number < 0:
            raise TypeError(f"The length of this dataset is not known before it has been read: {self._plan}.")
        return number

    def __bool__(self) -> bool:
        return True  # `if dataset:` asks whether there is a dataset, as in tf.data; not for its length

    def __repr__(self) -> str:
        # A debugger calls this: it must not run the user's functions.
        unknown = self._traced.untraceable and "_spec" not in self.__dict__
        spec = f"unknown ({self._traced.untraceable})" if unknown else self.element_spec
        return f"<Dataset: {self._plan}, element_spec={spec}>"

    @cached_property
    def _traced(self) -> Description:
        """What tracing alone can tell about the elements."""
        return describe(self._plan, may_run=False)

    @cached_property
    def _spec(self) -> Nest:
        """What the first element tells, for maps that cannot be traced."""
        return describe(self._plan).spec

    def _then(self, operation: Operation) -> Dataset:
        return Dataset(self._plan.then(operation))


def _with_dtypes(element: Nest, specs: list[Any]) -> Nest:
    leaves = [
        leaf if spec is None or spec.dtype.kind in FOREIGN_KINDS else leaf.astype(spec.dtype, copy=False)
        for leaf, spec in zip(flatten(element), specs, strict=True)
    ]
    return unflatten(element, leaves)
