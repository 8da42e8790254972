"""`tf.compat.v1.train.summary_iterator`: what an event file holds, one event after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unisono._src.data import files
from unisono.tf import errors
from unisono.tf._event_messages import message_class
from unisono.tf._paths import to_local_path
from unisono.tf._tensor_proto import make_tensor_proto
from unisono.tf.io._errors import translated


def summary_iterator(path: Any) -> Iterator[Any]:
    """The Event messages of a file that `tf.summary` or `tf.keras.callbacks.TensorBoard` wrote.

    Numbers are there in both of TensorFlow's ways: `value.simple_value`, and `tf.make_ndarray(value.tensor)`.
    A damaged file, or one whose last event is not complete, ends with a `tf.errors.DataLossError`.
    """
    file = to_local_path(path, "tf.compat.v1.train.summary_iterator")
    event = message_class("Event")
    try:
        with translated(file):
            for payload, _ in files.RecordFile(file).read():
                yield _with_tensors(event.FromString(payload))
    except files.RecordError as error:
        raise errors.DataLossError(None, None, str(error)) from error


class _View:
    """A message with other values in some of its fields."""

    def __init__(self, message: Any, **instead: Any) -> None:
        self._message, self._instead = message, instead

    def __getattr__(self, name: str) -> Any:
        return self._instead[name] if name in self._instead else getattr(self._message, name)

    def HasField(self, name: str) -> bool:  # noqa: N802  (protobuf's name)
        """Whether the field is set."""
        return name in self._instead or bool(self._message.HasField(name))

    def __repr__(self) -> str:
        return repr(self._message)


def _with_tensors(event: Any) -> Any:
    """The event, whose single numbers are tensors too: a message holds one of both."""
    values = event.summary.value
    if not any(value.HasField("simple_value") for value in values):
        return event
    return _View(event, summary=_View(event.summary, value=[_with_tensor(value) for value in values]))


def _with_tensor(value: Any) -> Any:
    return _View(value, tensor=make_tensor_proto(value.simple_value)) if value.HasField("simple_value") else value
