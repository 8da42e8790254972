"""`tf.compat.v1.summary` in eager style: `FileWriter`, and summaries that the default writer of `tf.summary` gets."""

from __future__ import annotations

import time
from typing import Any

from unisono._src.data.files import encode_event, message_class
from unisono.tf import summary as tf_summary
from unisono.tf._missing import explain_missing_names
from unisono.tf.compat.v1._learning_rates import get_global_step

NO_SUMMARY = """FileWriter.add_summary: expected a tf.compat.v1.Summary message or its bytes, got {kind}. Summaries of
values are written with tf.summary.scalar(name, value, step) inside `with writer.as_default():`."""

_raise_missing = explain_missing_names("tf.compat.v1.summary", depth=2)


class FileWriter:
    """Writes events to a file for TensorBoard.

    ```python
    writer = tf.compat.v1.summary.FileWriter("logs")
    value = tf.compat.v1.Summary.Value(tag="loss", simple_value=0.5)
    writer.add_summary(tf.compat.v1.Summary(value=[value]), global_step=1)
    ```
    """

    def __init__(
        self,
        logdir: Any,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ) -> None:
        self._logdir = logdir
        self._writer = tf_summary.create_file_writer(logdir, max_queue, int(flush_secs * 1000), filename_suffix)

    def get_logdir(self) -> Any:
        """The folder."""
        return self._logdir

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Adds a Summary message, or its bytes."""
        kind = message_class("Summary")
        if isinstance(summary, bytes):
            summary = kind.FromString(summary)
        if not isinstance(summary, kind):
            raise TypeError(NO_SUMMARY.format(kind=type(summary).__name__))
        self._writer.write(encode_event(summary, 0 if global_step is None else int(global_step), time.time()))

    def add_event(self, event: Any) -> None:
        """Adds an Event message."""
        self._writer.write(event.SerializeToString())

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Does nothing: there are no graphs."""

    def as_default(self, step: Any = None) -> Any:
        """A context in which summaries of `tf.summary` go to this file."""
        return self._writer.as_default(step)

    def flush(self) -> None:
        """Writes what is buffered."""
        self._writer.flush()

    def close(self) -> None:
        """Flushes and closes the file."""
        self._writer.close()

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> bool:
    """Writes a number to the default writer, at the global step. Returns whether there is a writer."""
    return tf_summary.scalar(_tag(name, family), tensor, step=_step())


def histogram(name: str, values: Any, collections: Any = None, family: str | None = None) -> bool:
    """Writes a histogram to the default writer, at the global step. Returns whether there is a writer."""
    return tf_summary.histogram(_tag(name, family), values, step=_step())


def image(name: str, tensor: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None) -> bool:
    """Writes images to the default writer, at the global step. Returns whether there is a writer."""
    return tf_summary.image(_tag(name, family), tensor, step=_step(), max_outputs=max_outputs)


def text(name: str, tensor: Any, collections: Any = None) -> bool:
    """Writes text to the default writer, at the global step. Returns whether there is a writer."""
    return tf_summary.text(name, tensor, step=_step())


def _tag(name: str, family: str | None) -> str:
    return name if family is None else f"{family}/{name}"


def _step() -> Any:
    """The default step of `tf.summary`, else the global step, else 0."""
    if tf_summary.experimental.get_step() is not None:
        return None
    step = get_global_step()
    return 0 if step is None else step


def __getattr__(name: str) -> Any:
    return message_class(name) if name in ("Event", "SessionLog", "Summary") else _raise_missing(name)
