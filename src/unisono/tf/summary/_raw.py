"""`write_raw_pb` and `summary_scope`: summaries that plugins of TensorBoard make themselves."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from unisono._src import keras_hooks
from unisono._src.data.files import encode_event, message_class
from unisono.tf._execution import name_scope
from unisono.tf.io._bytes import to_byte_string
from unisono.tf.summary._record import record_event


def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> bool:
    """Writes a Summary message, given as its bytes, to the default writer. Returns whether there is one."""
    raw = to_byte_string(tensor, "tf.summary.experimental.write_raw_pb")
    summary = message_class("Summary").FromString(raw)
    return record_event("write_raw_pb", [], lambda step: encode_event(summary, step, time.time()), step)


@contextlib.contextmanager
def summary_scope(name: str, default_name: str = "summary", values: Any = None) -> Iterator[tuple[str, str]]:
    """A scope of names for one summary: its tag, with the names of the scopes around, and the scope."""
    around = keras_hooks.current_name_scope()
    tag = f"{around}/{name or default_name}" if around else name or default_name
    with name_scope(name or default_name):
        yield tag, f"{tag}/"
