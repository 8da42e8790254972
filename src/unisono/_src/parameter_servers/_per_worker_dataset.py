"""Datasets with a pass for each worker. They run in the chief's process; workers get their batches with each closure.

Python code does not travel, and the functions that make datasets are Python code. So the chief reads all data, on the
threads that wait for the workers, and the elements are sent together with what the worker is to do.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Self, final

import jax
import numpy as np

from unisono._src import keras_hooks
from unisono._src.core import out_of_range_error
from unisono._src.data.dataset import Dataset
from unisono._src.parameter_servers._remote_value import PerWorkerValues
from unisono._src.strategy import DistributedDataset

OUTSIDE = """A per-worker {what} was read outside a scheduled function. Each worker has its own: pass it to one,
    iterator = iter(per_worker_dataset)
    coordinator.schedule(step_fn, args=(iterator,))       # calls next(iterator) inside"""

NO_DATASET = (
    """create_per_worker_dataset: {what}. Expected a dataset, or a function without arguments that returns one."""
)

IN_A_LOOP = """next(iterator) was called in a loop over a tensor, which is compiled as one loop. Each element arrives
with the function: use a Python loop, `for _ in range(10)`, or call next() once and schedule the function more often."""


class _CurrentWorker(threading.local):
    index: int | None = None


_current_worker = _CurrentWorker()


@contextlib.contextmanager
def making_dataset_of(worker: int) -> Iterator[None]:
    """Code in this block makes the dataset of one worker."""
    before, _current_worker.index = _current_worker.index, worker
    try:
        yield
    finally:
        _current_worker.index = before


class ElementSource:
    """Where a traced function gets elements from: see `_closure_program.py`."""

    def next_element(self, iterator: PerWorkerIterator) -> Any:
        """The next element of the worker, as traced values."""
        raise NotImplementedError

    def get_worker_index(self) -> Any:
        """The index of the worker, as a traced value."""
        raise NotImplementedError


class _CurrentSource(threading.local):
    current: ElementSource | None = None


_source = _CurrentSource()


@contextlib.contextmanager
def taking_elements_from(source: ElementSource) -> Iterator[None]:
    """In this block `next(iterator)` asks ``source``."""
    before, _source.current = _source.current, source
    try:
        yield
    finally:
        _source.current = before


def element_source() -> ElementSource | None:
    """Where the function that is being traced in this thread gets elements from; None outside such functions."""
    return _source.current


@final
class PerWorkerDataset(PerWorkerValues):
    """A dataset for each worker; `iter` begins a pass over each."""

    def __iter__(self) -> PerWorkerIterator:
        return PerWorkerIterator(self._values)

    @property
    def element_spec(self) -> Any:
        """The element spec of the datasets."""
        return self._values[0].element_spec


@final
class PerWorkerIterator(PerWorkerValues):
    """A pass over the dataset of each worker. `next` works inside scheduled functions."""

    def __init__(self, datasets: Any) -> None:
        super().__init__(datasets)
        self._passes: list[Any] = [None] * len(self._values)
        self._returned: list[deque[Any]] = [deque() for _ in self._values]
        self._locks = [threading.Lock() for _ in self._values]

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if _source.current is None:
            raise RuntimeError(OUTSIDE.format(what="iterator"))
        return _source.current.next_element(self)

    def get_next(self) -> Any:
        """The next element of the worker."""
        return next(self)

    @property
    def element_spec(self) -> Any:
        """The element spec of the datasets."""
        return self._values[0].element_spec

    def _of_worker(self, index: int) -> Any:
        """Itself: which worker's elements it gives is decided when they are taken."""
        del index
        return self

    def _take(self, worker: int) -> Any:
        """The next element of one worker, on the host; an OutOfRangeError at the end."""
        with self._locks[worker]:
            if self._returned[worker]:
                return self._returned[worker].popleft()
            with keras_hooks.outside_traces():
                if self._passes[worker] is None:
                    self._passes[worker] = iter(self._values[worker])
                return jax.tree.map(np.asarray, self._next(worker))

    def _put_back(self, worker: int, elements: list[Any]) -> None:
        """Gives back elements that were taken: they are the next ones."""
        with self._locks[worker]:
            self._returned[worker].extendleft(reversed(elements))

    def _next(self, worker: int) -> Any:
        try:
            return next(self._passes[worker])
        except StopIteration:
            raise out_of_range_error.current(
                f"The dataset of worker {worker} has ended: a scheduled function asked for more elements. Repeat it "
                "(dataset.repeat()), or schedule fewer functions."
            ) from None


def make_per_worker_dataset(dataset_or_function: Any, num_workers: int) -> PerWorkerDataset:
    """A dataset for each worker: what the function returns, called once for each, or the same dataset for all."""
    if isinstance(dataset_or_function, Dataset | DistributedDataset):
        return PerWorkerDataset([dataset_or_function] * num_workers)
    if not callable(dataset_or_function):
        raise TypeError(NO_DATASET.format(what=f"got {type(dataset_or_function).__name__}"))
    return PerWorkerDataset([_make(dataset_or_function, worker) for worker in range(num_workers)])


def _make(function: Callable[[], Any], worker: int) -> Any:
    with making_dataset_of(worker):
        # tf.function around it is accepted: what makes a dataset is Python code and runs as such.
        made = getattr(function, "python_function", function)()
    if not isinstance(made, Dataset | DistributedDataset):
        raise TypeError(NO_DATASET.format(what=f"the function returned {type(made).__name__}"))
    return made


NOT_ON_WORKER = """experimental_get_current_worker_index was called outside functions that run for a worker: call it
in one that is scheduled, or in one that makes a per-worker dataset."""


def get_current_worker_index() -> Any:
    """The index of the worker: in a scheduled function, or in one that makes the dataset of a worker."""
    if _source.current is not None:
        return _source.current.get_worker_index()
    if _current_worker.index is None:
        raise RuntimeError(NOT_ON_WORKER)
    return _current_worker.index
