"""One pass over a distributed dataset."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Self

from unisono._src.core import out_of_range_error
from unisono._src.data.dataset import Dataset, DatasetIterator, Optional
from unisono._src.data.plans import Nest, Plan, State
from unisono._src.strategy._global_step_assembler import GlobalStepAssembler

if TYPE_CHECKING:
    from unisono._src.strategy._distributed_dataset import DistributedDataset


class DistributedIterator:
    """The steps of one pass, and a position in it that can be saved and restored.

    >>> import unisono
    >>> dataset = unisono.data.Dataset.range(6).batch(2)
    >>> iterator = iter(unisono.OneDeviceStrategy("cpu:0").experimental_distribute_dataset(dataset))
    >>> first, state, second = next(iterator), iterator.get_state(), next(iterator)
    >>> iterator.set_state(state)
    >>> second.tolist(), iterator.get_next().tolist(), iterator.get_next().tolist()
    ([2, 3], [2, 3], [4, 5])
    >>> iterator.get_next_as_optional().has_value()
    False
    """

    def __init__(
        self,
        source: DistributedDataset,
        dataset: Dataset,
        make_plan: Callable[[Dataset], Plan],
        assembler: GlobalStepAssembler | None,
    ) -> None:
        self._source, self._dataset, self._assembler = source, dataset, assembler
        self._make_plan = make_plan
        self._iterator = DatasetIterator(dataset, make_plan, dataset._next_iteration())

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Nest:
        if self._assembler is None:
            return next(self._iterator)
        step = self._assembler.combine(next(self._iterator, None))
        if step is None:
            raise StopIteration
        return step

    def get_next(self) -> Nest:
        """The next step; at the end an OutOfRangeError."""
        try:
            return next(self)
        except StopIteration:
            raise out_of_range_error.current(
                f"get_next: the data has ended: {self._dataset._plan}. Write `for step in distributed_dataset`, "
                f"or ask get_next_as_optional().has_value().",
            ) from None

    def get_next_as_optional(self) -> Optional:
        """The next step, if there is one."""
        return Optional(list(islice(self, 1)))

    @property
    def element_spec(self) -> Nest:
        """That of the distributed dataset."""
        return self._source.element_spec

    def get_state(self) -> State:
        """The position after the last step, as JSON data: store it, and pass it to `set_state` later.

        It does not depend on replicas: steps of `experimental_distribute_dataset` resume from it on any number of them.
        """
        return self._iterator.get_state()

    def set_state(self, state: State) -> None:
        """Continues where `get_state` was called, on this iterator or on one in another run of the same code."""
        self._iterator.set_state(state)

    def initialize(self) -> list[None]:
        """Begins a new pass. Loops that were written for TensorFlow 1 call it before each epoch."""
        self._iterator.close()
        self._iterator = DatasetIterator(self._dataset, self._make_plan, self._dataset._next_iteration())
        return []

    @property
    def initializer(self) -> list[None]:
        """The same as `initialize()`, by the name of TensorFlow 1's iterators."""
        return self.initialize()

    def close(self) -> None:
        """Ends the pass: closes files and stops threads. Happens by itself at the end of the data."""
        self._iterator.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
