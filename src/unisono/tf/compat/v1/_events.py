"""`tf.compat.v1.train.summary_iterator`: what an event file holds, one event after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unisono import io
from unisono.tf import errors
from unisono.tf._event_messages import message_class
from unisono.tf._paths import local_path
from unisono.tf.io._errors import translated


def summary_iterator(path: Any) -> Iterator[Any]:
    """The Event messages of a file that `tf.summary` or `tf.keras.callbacks.TensorBoard` wrote.

    A damaged file, or one whose last event is not complete, ends with a `tf.errors.DataLossError`.
    """
    file = local_path(path, "tf.compat.v1.train.summary_iterator")
    event = message_class("Event")
    try:
        with translated(file):
            for payload, _ in io.RecordFile(file).read():
                yield event.FromString(payload)
    except io.RecordError as error:
        raise errors.DataLossError(None, None, str(error)) from error
