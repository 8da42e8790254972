"""Preemption notices: training finishes its call, writes a checkpoint, and exits for a restart.

A notice comes from SIGTERM, which only the main thread can handle, or from `request_preemption`, which any thread may
call. `PreemptionNotice` is what training asks.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any, Final, NoReturn, Self

from unisono._src.processes._processes import processes
from unisono_launch.worker import PREEMPTED


class Preempted(SystemExit):
    """Raised after everything was saved. The process exits with code 75, which asks `unisono run` for a restart."""

    def __init__(self, message: str) -> None:
        super().__init__(PREEMPTED)
        self.message = message

    def __str__(self) -> str:
        return self.message


EXITING = "{reason}; everything is saved in {folder}; exiting for a restart."

_SIGNALLED: Final = "SIGTERM received"
_BY_A_PEER: Final = "another worker is preempted"

_requested: str | None = None
_entered: set[PreemptionNotice] = set()


def request_preemption(reason: str = "preemption requested") -> None:
    """Announces that this process is going to be preempted, as SIGTERM would. Any thread may call it, at any time.

    A `fit(resume=...)` that is running, or a `PreemptionCheckpointHandler`, makes all workers save after the same step
    and raises `SystemExit` with code 75 in each. If none is running, the next one does so after its first step. One
    request ends one of them.

    ```python
    def watch_for_spot_interruption():
        if instance_will_be_reclaimed():
            unisono.checkpoint.request_preemption("the cloud takes this machine back")
    ```

    Args:
        reason: the first words of the message that the chief prints.
    """
    global _requested
    _requested = reason


def is_preemption_handled() -> bool:
    """Whether something in this process would act on a notice now."""
    return bool(_entered)


class PreemptionNotice:
    """Whether this process is to be preempted, by SIGTERM or by `request_preemption`.

    While it is entered, SIGTERM does not end the process but counts as a notice. A second SIGTERM ends it as usual,
    unless it follows at once: where all processes of a job are signalled, a launcher forwards another one. Python
    delivers signals to the main thread only, so in another thread only requests count.

    A signal that is not handled when the block ends is sent again, to the handler that would have received it without
    the block. A request stays for the next block.
    """

    def __init__(self, grace_seconds: float = 5.0) -> None:
        self._grace_seconds = grace_seconds
        self._received_at = 0.0
        self._signalled = False
        self._previous_handler: Any = None
        self._installed = False

    @property
    def received(self) -> bool:
        """Whether a notice has arrived and was not handled."""
        return self._signalled or _requested is not None

    def mark_handled(self) -> str:
        """Training acts on the notice of this process or of a peer, and ends. Returns what the notice said."""
        global _requested
        reason = _SIGNALLED if self._signalled else _requested or _BY_A_PEER
        self._signalled, _requested = False, None
        return reason

    def exit_for_restart(self, folder: str | os.PathLike[str], reason: str | None = None) -> NoReturn:
        """Ends the process, now that everything is saved in ``folder``."""
        message = EXITING.format(reason=reason or self.mark_handled(), folder=os.fspath(folder))
        if processes().is_chief:
            print(message, file=sys.stderr)
        raise Preempted(message)

    def __enter__(self) -> Self:
        _entered.add(self)
        if threading.current_thread() is threading.main_thread():
            self._previous_handler, self._installed = signal.signal(signal.SIGTERM, self._on_signal), True
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> None:
        _entered.discard(self)
        self._restore_handler()
        if self._signalled and kind is None:
            self._signalled = False
            os.kill(os.getpid(), signal.SIGTERM)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self._received_at:
            self._signalled, self._received_at = True, time.monotonic()
        elif time.monotonic() - self._received_at >= self._grace_seconds:
            self._restore_handler()
            os.kill(os.getpid(), number)

    def _restore_handler(self) -> None:
        if self._installed:
            # None: a handler that was not installed by Python, which cannot be restored from here.
            previous = self._previous_handler
            signal.signal(signal.SIGTERM, previous if previous is not None else signal.SIG_DFL)
            self._installed = False
