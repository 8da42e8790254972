"""The program that becomes a worker: it ties its life to the launcher's, and is then replaced by the script's Python.

Run by its path, with `-I -S`, so that it starts in 30 ms and imports nothing of ours:

    python -I -S _exec_worker.py LAUNCHER_PID PROGRAM [ARGUMENT ...]

`subprocess` could call a function between fork and exec instead; that is not safe once the launcher has threads.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Final

_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h


def main(launcher: int, command: list[str]) -> None:
    """Dies with the launcher from now on; becomes `command`."""
    if sys.platform == "linux":
        # Kept by exec. It refers to the thread that made this process: the launcher starts workers in its main thread.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != launcher:  # it died before the kernel was asked
        sys.exit(1)
    # Python ignores SIGPIPE, and a shell that starts something in the background SIGINT; both would be inherited.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
