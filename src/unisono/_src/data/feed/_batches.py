"""Host batches of one pass, with a position after each of them."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Self

from unisono._src.data.dataset import Dataset
from unisono._src.data.dataset._execution import add_background_thread
from unisono._src.data.plans import State, as_model_batch

TOO_SHORT = """The input differs from that of the run that is being resumed: it ended after {given} of the {number}
batches that were used before. Resume with the same data, or start a new run in another folder."""


class HostBatches(abc.ABC):
    """The batches of one pass."""

    def __iter__(self) -> Self:
        return self

    @abc.abstractmethod
    def __next__(self) -> Any:
        """The next batch."""

    @abc.abstractmethod
    def get_state(self) -> State:
        """The position after the last batch, as JSON."""

    @abc.abstractmethod
    def close(self) -> None:
        """Releases threads, files and generators. Safe to call twice."""


class PlanBatches(HostBatches):
    """The batches of a dataset, computed by a thread while the devices train."""

    def __init__(self, dataset: Dataset, state: State = None) -> None:
        self._iteration = dataset._next_iteration() if state is None else state["iteration"]
        self._elements = add_background_thread(dataset._execution.plan).open((self._iteration,))
        if state is not None:
            self._elements.set_state(state["place"])

    def __next__(self) -> Any:
        return as_model_batch(next(self._elements)())

    def get_state(self) -> State:
        return {"iteration": self._iteration, "place": self._elements.get_state()}

    def close(self) -> None:
        self._elements.close()


class IteratorBatches(HostBatches):
    """The batches of any iterator. It has no positions: to resume, the batches before one are read and dropped."""

    def __init__(self, begin: Callable[[], Iterator[Any]], state: State = None) -> None:
        self._batches, self._number = begin(), 0 if state is None else state
        given = sum(1 for _ in islice(self._batches, self._number))
        if given < self._number:
            raise ValueError(TOO_SHORT.format(given=given, number=self._number))

    def __next__(self) -> Any:
        batch = next(self._batches)
        self._number += 1
        return batch

    def get_state(self) -> State:
        return self._number

    def close(self) -> None:
        close = getattr(self._batches, "close", None)
        if close is not None:
            close()
