"""`sys.exit(3)` in one process of a job ends it at once, as an exception does.

Python calls no hook for SystemExit, and at the exit JAX waits for all peers, which may wait for this process in a sum
over all of them: the job would hang for minutes, and then blame a peer. So the code is noted where `sys.exit` is called
and where SystemExit leaves the scope of a strategy, and a handler at the exit, by when Python has printed the message,
ends the process without that wait.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import Any, Final

from unisono._src import hooks
from unisono._src.processes._progress import count_reports, report_failure
from unisono_launch.worker import PREEMPTED, ExitCode

# After these all processes end alike, or the peers of this one have ended.
_ORDERLY: Final = (0, PREEMPTED, ExitCode.LOST)

_noted: tuple[int, int] | None = None  # the code, and how many reports of progress there were


def end_at_once_on_exit() -> None:
    """From now on a `sys.exit` that means an error ends this process without waiting for its peers."""
    hooks.wrap(
        sys,
        "exit",
        _note_code,
        expects=("type builtin_function_or_method", "type function"),  # a script may have replaced it, too
        why="in a job of several processes, sys.exit(3) in one of them ends it without waiting for the others",
    )
    atexit.register(_end)  # before JAX's handler, which was registered earlier


def _note_code(original: Any) -> Any:
    def exit_and_note(*status: object) -> Any:
        note_exit(*status)
        return original(*status)

    return exit_and_note


def note_exit(status: object = None) -> None:
    """The main thread has raised SystemExit with this code. It may still be caught."""
    global _noted
    if threading.current_thread() is threading.main_thread():
        code = 0 if status is None else int(status) & 0xFF if isinstance(status, int) else ExitCode.FAILED
        _noted = code, count_reports()


def _end() -> None:
    if _noted is None or _noted[0] in _ORDERLY or _noted[1] != count_reports():  # trained on: it was caught
        return
    try:
        report_failure()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:  # also where nothing can be written any more
        os._exit(_noted[0])
