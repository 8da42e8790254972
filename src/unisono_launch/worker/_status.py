"""The status file: where a worker writes how far it is, so that the launcher knows it even after its death.

`UNISONO_STATUS` names one file for each worker. It holds one record of 128 bytes: a line of JSON such as
`{"step": 123, "phase": "fit", "time": 1767225600.0}`, padded with blanks. Each record overwrites the one before, by one
`pwrite` at the start of the file; it is within one page, so that a killed writer leaves the old record or the new one.
Nothing is synced: the file is for an observer on the same machine, not for the time after a power cut. The record has
its own time because that of the file can be by the clock of a file server.

This file depends on nothing, so that the training loop can import it.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import Final

FAILED: Final = "failed"
"""The phase of a worker whose main thread ended with an exception.

JAX waits for all peers when a process ends (300 s by default), so a failed worker can live on. One that writes this
phase and does not end within seconds counts as failed at the time of the record.
"""

EVENTS_FILE: Final = "events.jsonl"
"""In the folder of a run: what the launcher records beside it, for those who read it later."""
EVENTS_VERSION: Final = 1

_SIZE: Final = 128


@dataclass(frozen=True, kw_only=True)
class Status:
    """A record, and when it was written (seconds since the epoch)."""

    step: int
    phase: str
    written: float


def write_status(file: str | os.PathLike[str] | int, phase: str, step: int) -> None:
    """Writes what this worker is doing into its status file, given by path or, in a loop, by descriptor.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     write_status(file.name, "fit", 123)
    ...     status = read_status(file.name)
    >>> status.phase, status.step
    ('fit', 123)
    """
    record = json.dumps({"step": step, "phase": phase, "time": time.time()}).encode()
    if len(record) >= _SIZE:
        raise ValueError(f"A status has {_SIZE - 1} bytes at most; phase {phase!r} makes it {len(record)}. Shorten it.")
    record = record.ljust(_SIZE - 1) + b"\n"
    if isinstance(file, int):
        os.pwrite(file, record, 0)
        return
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        os.pwrite(descriptor, record, 0)
    finally:
        os.close(descriptor)


def read_status(file: str | os.PathLike[str]) -> Status | None:
    """The last record; None if there is none yet, or none that can be read."""
    try:
        with open(file, "rb") as opened:
            record = json.loads(opened.read(_SIZE))
        return Status(step=int(record["step"]), phase=str(record["phase"]), written=float(record["time"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
