"""`tf.compat.v1.train.summary_iterator`: reads the events of an event file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unisono._src.data import files
from unisono._src.data.files import message_class
from unisono.tf import errors
from unisono.tf._paths import to_local_path, translate_os_errors
from unisono.tf._tensor_proto import make_tensor_proto


def summary_iterator(path: Any) -> Iterator[Any]:
    """Yields the Event messages of a file that `tf.summary` or `tf.keras.callbacks.TensorBoard` wrote.

    Scalars can be read in both of TensorFlow's ways: `value.simple_value` and `tf.make_ndarray(value.tensor)`.
    A damaged file, or one whose last event is incomplete, raises `tf.errors.DataLossError` at that event.
    """
    file = to_local_path(path, "tf.compat.v1.train.summary_iterator")
    event = message_class("Event")
    try:
        with translate_os_errors(file):
            for payload, _ in files.RecordFile(file).read():
                yield _add_tensors(event.FromString(payload))
    except files.RecordError as error:
        raise errors.DataLossError(None, None, str(error)) from error


class _MessageView:
    """A read-only protobuf message in which some fields have other values."""

    def __init__(self, message: Any, **overrides: Any) -> None:
        self._message, self._overrides = message, overrides

    def __getattr__(self, name: str) -> Any:
        return self._overrides[name] if name in self._overrides else getattr(self._message, name)

    def HasField(self, name: str) -> bool:  # noqa: N802  (protobuf's name)
        """Whether the field is set."""
        return name in self._overrides or bool(self._message.HasField(name))

    def __repr__(self) -> str:
        return repr(self._message)


def _add_tensors(event: Any) -> Any:
    """Returns the event with a `tensor` beside every `simple_value`: one protobuf message can hold only one of both."""
    values = event.summary.value
    if not any(value.HasField("simple_value") for value in values):
        return event
    return _MessageView(event, summary=_MessageView(event.summary, value=[_add_tensor(value) for value in values]))


def _add_tensor(value: Any) -> Any:
    if not value.HasField("simple_value"):
        return value
    return _MessageView(value, tensor=make_tensor_proto(value.simple_value))
