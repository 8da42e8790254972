"""Writing in a thread while training continues: one job at a time, and no error is lost."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable

NOT_WRITTEN = """The last checkpoint was not written; those before it are as they were. The error:"""

_GRACE_SECONDS = 30.0  # how long a process that failed waits for its last write


class BackgroundWriter:
    """Runs jobs in a thread, one at a time. To be called by one thread.

    What a job raises is raised once, by the next method that is called. At the end of the interpreter a running
    job is waited for; after an uncaught exception for 30 seconds at most, as the job may be waiting for what failed.

    >>> written = []
    >>> writer = BackgroundWriter()
    >>> writer.start(lambda: written.append("step-5"))
    >>> writer.wait()
    >>> written, writer.busy
    (['step-5'], False)
    """

    def __init__(self) -> None:
        self._job: _BackgroundWrite | None = None

    def start(self, job: Callable[[], None]) -> None:
        """Runs `job` in a thread. Waits for a running one first; if that one failed, raises and starts nothing."""
        self.wait()
        self._job = _BackgroundWrite(job)

    @property
    def busy(self) -> bool:
        """Whether a job is running."""
        return self._job is not None and not self._job.done.is_set()

    def check(self) -> None:
        """Raises what the last job raised, if it has ended and that was not raised yet. Does not wait."""
        if self._job is not None and not self.busy:
            job, self._job = self._job, None
            job.settle()

    def is_done_within(self, seconds: float | None) -> bool:
        """Waits so long for the running job, without a limit if it is None; whether none is running then. Raises
        nothing."""
        return self._job is None or self._job.done.wait(seconds)

    def wait(self) -> None:
        """Waits for the running job, if there is one, then `check`."""
        if self._job is not None:
            self._job.done.wait()
        self.check()

    def close(self) -> None:
        """The last call: the same as `wait`. Nothing is held open, so calling it twice does no harm."""
        self.wait()


class _BackgroundWrite:
    """One run of one function in a new thread."""

    def __init__(self, run: Callable[[], None]) -> None:
        self.done = threading.Event()
        self._error: BaseException | None = None
        self._process = os.getpid()
        # A daemon, and a handler at exit: for a thread that is not a daemon the interpreter would wait without limit.
        threading.Thread(target=self._work, args=(run,), name="unisono-writer", daemon=True).start()
        atexit.register(self._at_exit)

    def _work(self, run: Callable[[], None]) -> None:
        try:
            run()
        except BaseException as error:  # raised by settle(), in the thread of the caller
            self._error = error
        finally:
            self.done.set()

    def settle(self) -> None:
        atexit.unregister(self._at_exit)
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _at_exit(self) -> None:
        if os.getpid() != self._process:  # a fork has the handler, but not the thread
            return
        failed = getattr(sys, "last_value", None) is not None
        if self.done.wait(_GRACE_SECONDS if failed else None):
            if self._error is not None:
                print(NOT_WRITTEN, file=sys.stderr)
            self.settle()  # what it raises here is printed
