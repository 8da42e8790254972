"""The exit codes of workers and of the launcher."""

from __future__ import annotations

import enum
from typing import Final


class ExitCode(enum.IntEnum):
    """The exit codes of `unisono run`.

    A script that ends with another code (`sys.exit(3)`) is a user error: the launcher ends with the same code.

    >>> ExitCode(75).name
    'PREEMPTED'
    """

    DONE = 0
    FAILED = 1
    """A user error: an exception in the script. The report shows its traceback."""
    LAUNCHER = 2
    """The launcher could not do its work: wrong flags, devices that cannot be divided, a port that is taken."""
    LOST = 69
    """A worker was killed or crashed. A *worker* ends with this code to say that a peer was lost."""
    PREEMPTED = 75
    """A worker ended to be started again, after it saved what it needs. EX_TEMPFAIL of sysexits.h."""
    STUCK = 124
    """A worker was stopped, or sent no sign of life. The code of coreutils' `timeout`."""
    INTERRUPTED = 130
    """Ctrl-C: 128 + SIGINT, as shells do."""
    TERMINATED = 143
    """The launcher got SIGTERM or SIGHUP, and no worker asked to be restarted: 128 + SIGTERM."""


PREEMPTED: Final = int(ExitCode.PREEMPTED)
"""`sys.exit(PREEMPTED)` in a worker asks for a restart that does not count towards `--max-restarts`."""
