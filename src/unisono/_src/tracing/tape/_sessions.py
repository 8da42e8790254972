"""The tapes that record in this thread."""

from __future__ import annotations

import threading
from typing import Any, Protocol

from unisono._src import jax_hooks
from unisono._src.tracing.tape._followed_values import FollowedValues


class _OpenSessions(threading.local):
    def __init__(self) -> None:
        self.sessions: list[RecordingSession] = []


_open = _OpenSessions()


class SessionRecord(jax_hooks.Recorder, Protocol):
    """What is recorded in a session: by a tape the operations, by an accumulator the derivatives."""

    followed: FollowedValues[Any]
    keeps_arguments: bool

    def watch_variable(self, variable: Any, value: Any) -> None:
        """Follows ``variable``, whose value is ``value``, from the next read on."""


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

    def is_of_another(self, variable: Any, value: Any) -> bool:
        """Whether ``value``, which reading ``variable`` gave, is known as something else: what was assigned to it, or
        the value of another variable that shares it."""
        return self._record.followed.is_of_another(variable, value)

    def record_variable_read(self, variable: Any, value: Any) -> None:
        """Notes in the record that ``variable`` was read: using ``value`` is using the variable."""
        if self._watches_reads and variable.trainable:
            self._record.watch_variable(variable, value)
        self._record.followed.add_read(variable, value)

    def must_recompute(self) -> bool:
        """Whether a tape is recording that did not record what this one's pullbacks were computed from."""
        return any(session.recording for session in _open.sessions[_open.sessions.index(self) :])


def record_variable_read(variable: Any, value: Any, is_argument: bool) -> Any:
    """Notes in all tapes of this thread that ``variable`` was read and gave ``value``; returns the array to use for it.

    That is a copy if a tape knows the array as something else. So no gradient flows through an assignment, as in
    TensorFlow, nor to another variable of the same value. ``is_argument`` says that the value was given to a stateless
    call: gradients by it are wanted, so it stays what it is.
    """
    sessions = _open.sessions
    if not sessions:
        return value
    recording = [session for session in sessions if session.recording]
    if not is_argument and any(session.is_of_another(variable, value) for session in recording):
        value = jax_hooks.copy_unrecorded(value)
    for session in recording:
        session.record_variable_read(variable, value)
    return value


def is_any_tape_recording() -> bool:
    """Whether any tape is recording in this thread."""
    return any(session.recording for session in _open.sessions)
