"""Elements computed ahead of time by threads, given in order. Added to plans by the executor, not by users.

An exception in a user's function is raised where its element would have been given. Threads end with the pass: when
it is closed or garbage collected.
"""

from __future__ import annotations

import os
import threading
from abc import abstractmethod
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from unisono._src.data.plans._counting_elements import CountingElements
from unisono._src.data.plans._identity import ComputedElement
from unisono._src.data.plans._operation import Deferred, Elements, Operation, PassId, State, Upstream

_NAME: Final = "unisono-data"


@dataclass(frozen=True)
class ComputeAhead(Operation):
    """`num_threads` threads compute up to `ahead` elements before they are needed."""

    keeps_random_access = False

    num_threads: int
    ahead: int

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return _AheadElements(upstream.open(pass_id), self)

    def __str__(self) -> str:
        return f"[{self.num_threads} thread{'s' if self.num_threads > 1 else ''}, {self.ahead} ahead]"


def num_host_threads(requested: int) -> int:
    """The number of threads for `num_parallel_calls=requested`; -1: one for each core."""
    return max(2, os.cpu_count() or 1) if requested < 0 else max(1, requested)


class ReadAheadElements(Elements):
    """Elements of an input that threads read ahead. A subclass sets `_position` with each element that it gives."""

    def __init__(self, upstream: Elements) -> None:
        self._upstream = upstream
        self._position: State = upstream.get_state()  # after the last element that was given

    def get_state(self) -> State:
        return self._position

    def set_state(self, state: State) -> None:
        self._stop()
        self._upstream.set_state(state)
        self._position = state

    def close(self) -> None:
        self._stop()
        self._upstream.close()

    @abstractmethod
    def _stop(self) -> None:
        """Drops what was read ahead, and waits for the threads, so that no other thread uses the input."""


def new_threads(count: int) -> ThreadPoolExecutor:
    """Threads for :class:`ReadAheadElements`."""
    return ThreadPoolExecutor(count, thread_name_prefix=_NAME)


def stop_threads(pool: ThreadPoolExecutor | None) -> None:
    """Waits for what the threads of :func:`new_threads` are doing now, and ends them."""
    if pool is not None:
        # A thread cannot wait for itself: it may be the one in which the garbage collector runs.
        wait = not threading.current_thread().name.startswith(_NAME)
        pool.shutdown(wait, cancel_futures=True)


class _AheadElements(ReadAheadElements):
    """One thread reads the input, `num_threads` compute; a single thread does both."""

    def __init__(self, upstream: Elements, operation: ComputeAhead) -> None:
        super().__init__(CountingElements(upstream))
        self._operation = operation
        self._reader: ThreadPoolExecutor | None = None
        self._workers: ThreadPoolExecutor | None = None
        self._queue: deque[Future[_ReadElement | None]] = deque()

    def __next__(self) -> Deferred:
        if self._reader is None:
            self._start()
        while len(self._queue) < self._operation.ahead:
            self._queue.append(self._reader.submit(self._read))  # type: ignore[union-attr]
        read = self._queue.popleft().result()
        if read is None:
            raise StopIteration
        value = read.value if isinstance(read.value, ComputedElement) else read.value.result()
        self._position = read.position
        return value

    def _start(self) -> None:
        threads = self._operation.num_threads
        self._reader = new_threads(1)
        self._workers = new_threads(threads) if threads > 1 else None

    def _read(self) -> _ReadElement | None:
        element = next(self._upstream, None)
        if element is None:
            return None
        position = self._upstream.get_state()
        if self._workers is None:
            return _ReadElement(ComputedElement.of(element), position)
        return _ReadElement(self._workers.submit(ComputedElement.of, element), position)

    def _stop(self) -> None:
        reader, self._reader = self._reader, None
        workers, self._workers = self._workers, None
        stop_threads(reader)
        stop_threads(workers)
        self._queue.clear()


@dataclass(frozen=True)
class _ReadElement:
    """An element that has been read, and the position of the input after it."""

    value: ComputedElement | Future[ComputedElement]
    position: State
