"""The functions that wait for a worker, and what has become of those that do not wait any more."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final, final

from unisono._src.parameter_servers._errors import cancelled_error
from unisono._src.parameter_servers._remote_value import RemoteValue
from unisono._src.parameter_servers._servers import CLOSED, ParameterServers

_WAITING_PER_WORKER: Final = 256

CANCELLED = "This function did not run: one that was scheduled before it failed. See the error that `join` raised."
CANCELLED_AT_CLOSE = "This function did not run, or not to its end: the strategy was closed before."


@dataclass(eq=False)
class Closure:
    """A function with its arguments.

    Attributes:
        number: in the order in which they were scheduled.
        function: what to run.
        args: its arguments; per-worker values are replaced by those of the worker that runs it.
        kwargs: the same.
        elements: what was taken from datasets for it. When a worker is lost, another one gets the same elements.
    """

    number: int
    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: RemoteValue = field(default_factory=RemoteValue)
    elements: list[Any] | None = None


@final
class ClosureQueue:
    """Closures that wait and run, and the first error. Any thread may call any method.

    Args:
        servers: are notified when values may change.
        num_workers: limits how many closures wait.
    """

    def __init__(self, servers: ParameterServers, num_workers: int) -> None:
        self._servers = servers
        self._max_waiting = _WAITING_PER_WORKER * num_workers
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._waiting: deque[Closure] = deque()
        self._running: dict[int, Closure] = {}
        self._error: BaseException | None = None
        self._is_fatal = False
        self._closed = False

    # The script's side.

    def put(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RemoteValue:
        """Adds a closure; waits while very many of them wait to be run.

        Raises the error of an earlier closure, or RuntimeError after :meth:`close`.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: len(self._waiting) < self._max_waiting or self._error is not None or self._closed
            )
            self._raise_error()
            if self._closed:
                raise RuntimeError(CLOSED)
            closure = Closure(next(self._numbers), function, args, kwargs)
            self._servers.closures_started(1)
            self._waiting.append(closure)
            self._changed.notify_all()
            return closure.result

    def join(self) -> None:
        """Waits until none waits or runs. Raises the error of one that failed, after the others have ended."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and not self._running)
            self._raise_error()

    def is_done(self) -> bool:
        """Whether none waits or runs. Raises the error of one that failed."""
        with self._changed:
            self._raise_error()
            return not self._waiting and not self._running

    def _raise_error(self) -> None:
        if self._error is None:
            return
        self._changed.wait_for(lambda: not self._running)
        error = self._error
        if not self._is_fatal:
            self._error = None
        raise error

    # The workers' side.

    def take(self) -> Closure | None:
        """The next closure, as soon as there is one; None at the end of the job."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._waiting)
            if self._closed:
                return None
            closure = self._waiting.popleft()
            self._running[closure.number] = closure
            self._changed.notify_all()
            return closure

    @property
    def has_waiting(self) -> bool:
        """Whether a closure waits for a worker."""
        with self._changed:
            return bool(self._waiting)

    @property
    def finished_below(self) -> int:
        """All closures with smaller numbers have ended for good."""
        with self._changed:
            pending = [*self._running, *(closure.number for closure in self._waiting)]
            return min(pending, default=0)

    def put_back(self, closure: Closure) -> None:
        """The worker was lost: another one runs it, before all that wait."""
        with self._changed:
            del self._running[closure.number]
            if self._error is None and not self._closed:
                self._waiting.appendleft(closure)
            else:
                self._cancel(closure)
            self._changed.notify_all()

    def finish(self, closure: Closure, value: Any) -> None:
        """The closure has returned ``value``."""
        with self._changed:
            del self._running[closure.number]
            self._servers.closure_ended()
            closure.result._set_value(value)
            self._changed.notify_all()

    def fail(self, closure: Closure | None, error: BaseException, *, is_fatal: bool = False) -> None:
        """The closure has failed, or the job: those that wait are cancelled. Ignores a closure that does not run."""
        with self._changed:
            if closure is not None and self._running.pop(closure.number, None) is not None:
                self._servers.closure_ended()
                closure.result._set_error(error)
            if self._error is None or is_fatal:
                self._error, self._is_fatal = error, is_fatal
            while self._waiting:
                self._cancel(self._waiting.popleft())
            self._changed.notify_all()

    def close(self) -> None:
        """The end of the job: nothing is given to workers any more."""
        with self._changed:
            self._closed = True
            while self._waiting:
                self._cancel(self._waiting.popleft())
            self._changed.notify_all()

    def _cancel(self, closure: Closure) -> None:
        self._servers.closure_ended()
        text = CANCELLED_AT_CLOSE if self._closed else CANCELLED
        closure.result._set_error(self._error if self._is_fatal and self._error else cancelled_error.current(text))
