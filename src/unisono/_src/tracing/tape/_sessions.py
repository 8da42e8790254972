"""Which tapes record in this thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from unisono._src import jax_hooks
from unisono._src.tracing.tape._record import Record


class _Open(threading.local):
    def __init__(self) -> None:
        self.sessions: list[RecordingSession] = []


_open = _Open()


class RecordingSession:
    """One block in which a tape records: opened when it is made, innermost of its thread's.

    The order matters: what is computed for the gradients of a tape, the tapes around it see; those inside of it do not,
    and neither does it itself.
    """

    def __init__(self, record: Record, watches_reads: bool) -> None:
        self._record, self._watches_reads = record, watches_reads
        self._trace = jax_hooks.RecordingTrace(jax_hooks.current_trace(), record)
        self._trace.enter()
        for outer in _open.sessions:
            outer._record.keeps_arguments = True  # should it be asked for gradients while this one records
        _open.sessions.append(self)

    @property
    def recording(self) -> bool:
        """Whether operations are recorded. Can be set; the session stays open."""
        return self._trace.active

    @recording.setter
    def recording(self, recording: bool) -> None:
        self._trace.active = recording

    def use(self, record: Record) -> None:
        """Goes on with another record."""
        self._record = self._trace.recorder = record

    def close(self) -> None:
        """Ends it. It need not be the innermost."""
        _open.sessions.remove(self)
        self._trace.leave()

    def record_variable_read(self, variable: Any, value: Any) -> None:
        """Tells the record that ``variable`` was read."""
        if not self.recording:
            return
        if self._watches_reads and variable.trainable:
            self._record.watch_variable(variable, value)
        else:
            self._record.record_variable_read(variable, value)

    def hides_from_others(self) -> bool:
        """Whether a tape records that does not see what was computed for the gradients of this one."""
        return any(session.recording for session in _open.sessions[_open.sessions.index(self) :])


def record_variable_read(variable: Any, value: Any) -> None:
    """Tells the tapes of this thread that ``variable`` was read, and which array it gave."""
    for session in _open.sessions:
        session.record_variable_read(variable, value)


def is_any_tape_recording() -> bool:
    """Whether a tape records in this thread."""
    return any(session.recording for session in _open.sessions)


@contextlib.contextmanager
def pause_recording() -> Iterator[None]:
    """What runs in this block, no tape of this thread sees."""
    paused = [session for session in _open.sessions if session.recording]
    for session in paused:
        session.recording = False
    try:
        with jax_hooks.use_trace(jax_hooks.trace_below_tapes(jax_hooks.current_trace())):
            yield
    finally:
        for session in paused:
            session.recording = True
