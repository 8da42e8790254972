"""Values of workers: what a scheduled function will return, and what differs between workers."""

from __future__ import annotations

import threading
from typing import Any, final


@final
class RemoteValue:
    """The result of a scheduled function, available as soon as the function has run."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._value: Any = None
        self._error: BaseException | None = None

    def fetch(self) -> Any:
        """Waits for the value and returns it; raises the error of the function if it failed or was cancelled."""
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._value

    def get(self) -> Any:
        """The same: values are sent to the chief as soon as they are computed."""
        return self.fetch()

    def _set_value(self, value: Any) -> None:
        """The function has returned ``value``."""
        self._value = value
        self._done.set()

    def _set_error(self, error: BaseException) -> None:
        """The function has failed, or was cancelled."""
        self._error = error
        self._done.set()


class PerWorkerValues:
    """A value for each worker. A scheduled function that takes it as an argument gets the value of its own worker.

    Args:
        values: one for each worker.
    """

    def __init__(self, values: Any) -> None:
        self._values = tuple(values)

    def _of_worker(self, index: int) -> Any:
        """The value of one worker."""
        return self._values[index]
