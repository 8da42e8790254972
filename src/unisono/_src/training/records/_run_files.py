"""The two files of a run, as they are written: lines that are appended, and a description that is replaced."""

from __future__ import annotations

import errno
import json
import math
import numbers
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unisono._src.core import METRICS_FILE, RUN_FILE, warn_user
from unisono._src.state.store import make_folders

NOT_WRITTEN = (
    """{path} cannot be written: {error}. Training continues, and its metrics are not recorded from here on."""
)


class RunFiles:
    """Writes into the folder of a run.

    If that fails, a warning says so once, and nothing more is written. It says so with the first line about steps: in a
    folder that cannot be written, the first checkpoint fails before, and that is the error to read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._descriptor: int | None = None
        self._has_failed = False
        # Before the first checkpoint is written into it: a checkpoint is durable only if the names above it are.
        self._try(folder, lambda: make_folders(folder), quiet=True)

    def append(self, record: Mapping[str, Any], *, quiet: bool = False) -> None:
        """Adds one line to `metrics.jsonl`, by one call: a process that is killed leaves at most half a line."""
        line = (json.dumps(to_json(record), separators=(",", ":"), allow_nan=False) + "\n").encode()

        def write() -> None:
            if os.write(self._open(), line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        self._try(self.folder / METRICS_FILE, write, quiet=quiet)

    def describe(self, fit: int, run: Mapping[str, Any], description: Mapping[str, Any]) -> None:
        """Replaces `run.json`: ``run`` is about all of it, ``description`` about this `fit`; others stay."""
        path = self.folder / RUN_FILE

        def write() -> None:
            fits = {**_read_fits(path), str(fit): description}
            staged = path.with_name(f".{RUN_FILE}.{os.getpid()}")
            staged.write_text(json.dumps(to_json({**run, "fits": fits}), indent=1, allow_nan=False) + "\n")
            os.replace(staged, path)

        self._try(path, write, quiet=True)

    def close(self) -> None:
        """Closes `metrics.jsonl`."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        if self._descriptor is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
            self._descriptor = os.open(self.folder / METRICS_FILE, flags, 0o644)
            size = os.fstat(self._descriptor).st_size
            if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
                os.write(self._descriptor, b"\n")  # after the half line of a process that was killed
        return self._descriptor

    def _try(self, path: Path, write: Callable[[], Any], *, quiet: bool) -> None:
        if self._has_failed:
            return
        try:
            write()
        except OSError as error:  # a full disk ends the record, not the training
            if not quiet:
                self._has_failed = True
                warn_user(NOT_WRITTEN.format(path=path, error=error))


def to_json(value: Any) -> Any:
    """``value`` as strict JSON has it: NumPy's numbers become Python's, and those that are not finite "NaN", "Infinity"
    and "-Infinity"."""
    if isinstance(value, Mapping):
        return {str(name): to_json(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(each) for each in value]
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    number = float(value)
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _read_fits(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text()).get("fits", {})
    except (OSError, ValueError, AttributeError):
        return {}  # there is none yet, or somebody has edited it
    return found if isinstance(found, dict) else {}
