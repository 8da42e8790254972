"""The chief's end of one worker: a thread that gives it closures, and connects again when the worker is lost."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Final, TypeAlias, final

from unisono._src.parameter_servers._channel import Channel, RefusedError, RequestError
from unisono._src.parameter_servers._closure_program import ClosureProgram
from unisono._src.parameter_servers._closure_queue import Closure, ClosureQueue
from unisono._src.parameter_servers._closure_runner import SERVER_LOST
from unisono._src.parameter_servers._servers import REFUSED, ParameterServers
from unisono._src.tracing.functions import Arguments
from unisono_launch.connection import PeerLostError

_RETRY_SECONDS: Final = 0.2
_SILENT_SECONDS: Final = 10.0

LOST = "unisono: worker {index} ({address}) was lost: {reason}. What it was doing runs on another worker."
WAITING = "unisono: waiting for worker {index} ({address}): {reason}"
BACK = "unisono: worker {index} ({address}) has connected again."

FAILED = """{function} failed on worker {index} ({address}):
{error}"""


Preparation: TypeAlias = Callable[[Closure, int], tuple[ClosureProgram, Arguments]]
"""Gives the program of a closure for the worker that will run it, whose elements are taken now."""


class ClosureFailedError(RuntimeError):
    """A scheduled function failed on a worker."""


@final
class WorkerThread:
    """One worker.

    Args:
        index: which one.
        address: of its server.
        servers: the parameter servers.
        queue: of the closures.
        prepare: makes programs of them.
        while_missing: called now and then while the worker cannot be reached.
    """

    def __init__(
        self,
        index: int,
        address: str,
        servers: ParameterServers,
        queue: ClosureQueue,
        prepare: Preparation,
        while_missing: Callable[[], None],
    ) -> None:
        self._index, self._address = index, address
        self._servers, self._queue, self._prepare = servers, queue, prepare
        self._while_missing = while_missing
        self._channel: Channel | None = None
        self._sent: set[int] = set()
        self._was_lost = False
        self._closed = threading.Event()
        self.missing_since: float | None = time.monotonic()
        """When the worker was lost, or began to be waited for; None while it is connected."""
        self.reason = "it has not started"
        """Why it is missing."""
        self._thread = threading.Thread(target=self._run, name=f"unisono worker {index}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the thread, after the queue was closed."""
        self._closed.set()
        if self._channel is not None:
            self._channel.close()
        self._thread.join(5)

    def _run(self) -> None:
        closure: Closure | None = None
        try:
            while not self._closed.is_set():
                if self._channel is None and not self._connect():
                    self._closed.wait(_RETRY_SECONDS)
                    continue
                closure = self._queue.take()
                if closure is None:
                    break
                self._run_closure(closure)
        except BaseException as error:  # nobody else would notice, and `join` would wait for this thread
            self._queue.fail(closure, error, is_fatal=True)
        finally:
            if self._channel is not None:
                self._channel.close()

    def _run_closure(self, closure: Closure) -> None:
        try:
            self._execute(closure)
        except PeerLostError as error:
            self._lose(str(error))
            self._queue.put_back(closure)
        except RequestError as error:
            self._report(closure, error)
        except BaseException as error:
            self._queue.fail(closure, error, is_fatal=self._servers.is_lost)

    def _connect(self) -> bool:
        channel: Channel | None = None
        try:
            channel = Channel.open(self._address, "chief", self._servers.job)
            channel.request({"type": "servers", "addresses": self._servers.addresses})
        except RefusedError as error:
            text = REFUSED.format(task="worker", index=self._index, address=self._address, reason=error)
            self._queue.fail(None, ValueError(text), is_fatal=True)
            self._closed.set()
            return False
        except (PeerLostError, RequestError) as error:
            if channel is not None:
                channel.close()
            self.reason = str(error)
            self._say_missing()
            self._while_missing()
            return False
        self._channel, self._sent, self.missing_since = channel, set(), None
        if self._was_lost:
            print(BACK.format(index=self._index, address=self._address), file=sys.stderr, flush=True)
        return True

    def _say_missing(self) -> None:
        since = self.missing_since
        if not self._was_lost and since is not None and time.monotonic() - since > _SILENT_SECONDS:
            text = WAITING.format(index=self._index, address=self._address, reason=self.reason)
            print(text, file=sys.stderr, flush=True)
            self._was_lost = True  # said once, and again when it connects

    def _lose(self, reason: str) -> None:
        if self._channel is not None:
            self._channel.close()
        self._channel, self.missing_since, self.reason, self._was_lost = None, time.monotonic(), reason, True
        if not self._closed.is_set():
            print(LOST.format(index=self._index, address=self._address, reason=reason), file=sys.stderr, flush=True)

    def _execute(self, closure: Closure) -> None:
        assert self._channel is not None
        program, arguments = self._prepare(closure, self._index)
        arrays = program.arrays_for(arguments, closure.elements or [], self._index)
        if program.number not in self._sent:
            exported, description = program.for_worker(self._channel.welcome["platform"], arrays)
            for update in program.updates:
                self._servers.add_program(update.server, update.program)
            self._channel.request({"type": "program", "number": program.number, **description}, data=exported.data)
            self._sent.add(program.number)
        request: dict[str, Any] = {"type": "run", "program": program.number, "closure": closure.number}
        request["finished_below"] = self._queue.finished_below
        _, results = self._channel.request(request, arrays)
        self._queue.finish(closure, program.make_results(results))

    def _report(self, closure: Closure, error: RequestError) -> None:
        """An error that the worker reports: of the function, or that it cannot reach a parameter server."""
        if error.kind == SERVER_LOST:
            lost = self._servers.find_lost(str(error))
            if lost is not None:
                self._queue.fail(closure, lost, is_fatal=True)
                return
        name = getattr(closure.function, "__qualname__", repr(closure.function))
        text = FAILED.format(function=name, index=self._index, address=self._address, error=error)
        self._queue.fail(closure, ClosureFailedError(text))
