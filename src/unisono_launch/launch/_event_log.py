"""`events.jsonl` in the folder of a run: when its attempts began and why they ended. `unisono report` reads it.

Each line is a JSON object with `time` (seconds since 1970), `event` and what belongs to it; docs/reports.md has the
table. Only the launcher of the first machine writes.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from unisono_launch.worker import EVENTS_FILE, EVENTS_VERSION

LaunchEvent = Literal["attempt", "failed", "preempted", "excluded", "end"]


class EventLog:
    """Appends events, one `write` for each. A full disk ends the log, not the job.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     EventLog(Path(folder), enabled=True, warn=print).add("end", code=0)
    ...     (Path(folder) / "events.jsonl").read_text().endswith('"event": "end", "code": 0}\\n')
    True
    """

    def __init__(self, run_dir: Path, *, enabled: bool, warn: Callable[[str], None]) -> None:
        self._path = run_dir / EVENTS_FILE
        self._enabled = enabled
        self._warn = warn

    def add(self, event: LaunchEvent, **values: Any) -> None:
        """Adds one event, which happened now."""
        if not self._enabled:
            return
        record = {"version": EVENTS_VERSION, "time": round(time.time(), 3), "event": event, **values}
        try:
            self._append((json.dumps(record) + "\n").encode())
        except OSError as error:
            self._enabled = False
            self._warn(f"unisono: {self._path} ends here: {error}. The job continues.")

    def _append(self, line: bytes) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line  # after the half line of a launcher that was killed, or of a full disk
            if os.write(descriptor, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(descriptor)
