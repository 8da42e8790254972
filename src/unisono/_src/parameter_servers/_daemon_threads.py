"""Threads for calls that wait for other machines: a process that ends does not wait for them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import final

_Call = Callable[[], None]
_Endings = queue.SimpleQueue[BaseException | None]


@final
class DaemonThreads:
    """Runs several calls at the same time.

    The threads of a `ThreadPoolExecutor` are joined when the process ends: Ctrl-C would wait for a peer that is
    stopped, and whose connection the operating system keeps open.

    Args:
        number: of threads.
        name: of each of them.
    """

    def __init__(self, number: int, *, name: str) -> None:
        self._calls: queue.SimpleQueue[tuple[_Call, _Endings] | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._run, name=name, daemon=True) for _ in range(number)]
        for thread in self._threads:
            thread.start()

    def run_all(self, calls: Sequence[_Call]) -> None:
        """Runs the calls, at most as many as there are threads. Raises the first error without waiting for the rest."""
        endings: _Endings = queue.SimpleQueue()
        for call in calls:
            self._calls.put((call, endings))
        for _ in calls:
            if (error := endings.get()) is not None:
                raise error

    def close(self) -> None:
        """Ends the threads, once their calls have ended."""
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        while (given := self._calls.get()) is not None:
            call, endings = given
            try:
                call()
                endings.put(None)
            except BaseException as error:  # raised again by `run_all`
                endings.put(error)
