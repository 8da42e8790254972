"""The tapes that record in this thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, Protocol

from unisono._src import jax_hooks


class _OpenSessions(threading.local):
    def __init__(self) -> None:
        self.sessions: list[RecordingSession] = []


_open = _OpenSessions()


class SessionRecord(jax_hooks.Recorder, Protocol):
    """What is recorded in a session: by a tape the operations, by an accumulator the derivatives."""

    keeps_arguments: bool

    def watch_variable(self, variable: Any, value: Any) -> None:
        """Follows ``variable``, whose value is ``value``, from now on."""

    def record_variable_read(self, variable: Any, value: Any) -> None:
        """``variable`` was read and gave ``value``."""


class RecordingSession:
    """One `with` block in which a tape records. Created as the innermost of its thread.

    The order matters: what is computed for the gradients of a tape is recorded by the tapes around it, not by itself or
    by the tapes inside it.
    """

    def __init__(self, record: SessionRecord, watches_reads: bool) -> None:
        self._record, self._watches_reads = record, watches_reads
        self._trace = jax_hooks.RecordingTrace(jax_hooks.current_trace(), record)
        self._trace.enter()
        for outer in _open.sessions:
            outer._record.keeps_arguments = True  # in case its gradients are requested while this one records
        _open.sessions.append(self)

    @property
    def recording(self) -> bool:
        """Whether operations are recorded. Can be set; the session stays open."""
        return self._trace.active

    @recording.setter
    def recording(self, recording: bool) -> None:
        self._trace.active = recording

    def use(self, record: SessionRecord) -> None:
        """Continues with another record."""
        self._record = self._trace.recorder = record

    def close(self) -> None:
        """Ends the session. It need not be the innermost."""
        _open.sessions.remove(self)
        self._trace.leave()

    def record_variable_read(self, variable: Any, value: Any) -> None:
        """Notes in the record that ``variable`` was read."""
        if not self.recording:
            return
        if self._watches_reads and variable.trainable:
            self._record.watch_variable(variable, value)
        else:
            self._record.record_variable_read(variable, value)

    def must_recompute(self) -> bool:
        """Whether a tape is recording that did not record what this one's pullbacks were computed from."""
        return any(session.recording for session in _open.sessions[_open.sessions.index(self) :])


def record_variable_read(variable: Any, value: Any) -> None:
    """Notes in all tapes of this thread that ``variable`` was read, and which array it gave."""
    for session in _open.sessions:
        session.record_variable_read(variable, value)


def is_any_tape_recording() -> bool:
    """Whether any tape is recording in this thread."""
    return any(session.recording for session in _open.sessions)


@contextlib.contextmanager
def pause_recording() -> Iterator[None]:
    """No tape of this thread records what runs in this block."""
    paused = [session for session in _open.sessions if session.recording]
    for session in paused:
        session.recording = False
    try:
        with jax_hooks.use_trace(jax_hooks.trace_below_tapes(jax_hooks.current_trace())):
            yield
    finally:
        for session in paused:
            session.recording = True
