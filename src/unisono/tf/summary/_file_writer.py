"""`tf.summary.create_file_writer`: writes an event file for TensorBoard."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time
import weakref
from typing import Any, Final

import jax

from unisono._src import jax_hooks
from unisono._src.data.files import TFRecordWriter, encode_version_event
from unisono.tf._paths import to_local_path
from unisono.tf.summary._writer import SummaryWriter

CLOSED = "The SummaryWriter of {logdir!r} is closed. Create a new one: tf.summary.create_file_writer(logdir)."

_counter = itertools.count()  # gives two writers created in one second different files
_MAX_QUEUE: Final = 10
_FLUSH_MILLIS: Final = 120_000


class EventFileWriter(SummaryWriter):
    """Writes events to a new file, which is created immediately."""

    def __init__(self, logdir: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        os.makedirs(logdir, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}.{next(_counter)}{suffix}"
        self._logdir, self._max_queue, self._flush_seconds = logdir, max_queue, flush_millis / 1000
        self._file = TFRecordWriter(os.path.join(logdir, name))
        self._lock = threading.Lock()
        self._closed = False
        self._num_unflushed, self._flushed_at = 0, time.monotonic()
        weakref.finalize(self, self._file.close)  # scripts often end without closing it
        self._file.write(encode_version_event(time.time()))
        self._file.flush()

    def check_open(self) -> None:
        if self._closed:
            raise RuntimeError(CLOSED.format(logdir=self._logdir))

    def write(self, event: bytes) -> None:
        self.check_open()
        with self._lock:
            self._file.write(event)
            self._num_unflushed += 1
            now = time.monotonic()
            if self._num_unflushed >= self._max_queue or now - self._flushed_at >= self._flush_seconds:
                self._file.flush()
                self._num_unflushed, self._flushed_at = 0, now

    def flush(self) -> None:
        if self._closed or not jax_hooks.is_evaluating():
            return
        jax.effects_barrier()
        with self._lock:
            self._file.flush()
            self._num_unflushed, self._flushed_at = 0, time.monotonic()

    def close(self) -> None:
        self.flush()
        self._closed = True
        self._file.close()


def create_file_writer(
    logdir: Any,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """Creates a writer of a new event file in the folder ``logdir``, which is created if needed.

    ```python
    writer = tf.summary.create_file_writer("logs/train")
    with writer.as_default():
        tf.summary.scalar("loss", 0.5, step=1)
    ```

    Args:
        logdir: the folder, a run in TensorBoard.
        max_queue: the number of events after which the file is flushed; 10 if None.
        flush_millis: the milliseconds after which it is flushed; 120,000 if None.
        filename_suffix: the end of the file's name; ".v2" if None.
        name: accepted, without effect.
        experimental_trackable: accepted, without effect.
        experimental_mesh: accepted, without effect.
    """
    return EventFileWriter(
        to_local_path(logdir, "tf.summary.create_file_writer"),
        _MAX_QUEUE if max_queue is None else max_queue,
        _FLUSH_MILLIS if flush_millis is None else flush_millis,
        ".v2" if filename_suffix is None else filename_suffix,
    )
