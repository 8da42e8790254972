"""Events of TensorBoard's files: the one place that encodes them, for `tf.summary` and for the TensorBoard callback.

The messages are tensorboardX's. Its writers are not used: they pass events to a thread and a queue, so the caller does
not learn of a full disk, and cannot tell how far the file was written when a checkpoint was taken.
"""

from __future__ import annotations

import functools
import importlib
import os
from types import ModuleType
from typing import Any, Final

_VARIABLE: Final = "CRC32C_SW_MODE"  # tensorboardX sets it when it is imported, for checksums that are not used here
_FILE_VERSION: Final = "brain.Event:2"
_MODULES: Final = {
    "Event": "event",
    "SessionLog": "event",
    "Summary": "summary",
    "SummaryMetadata": "summary",
    "TensorProto": "tensor",
    "TensorShapeProto": "tensor_shape",
}


def message_class(name: str) -> Any:
    """The protobuf class of that name. Imported on first use: tensorboardX imports boto3 and others if installed."""
    return getattr(_import_messages(_MODULES[name]), name)


@functools.cache
def _import_messages(module: str) -> ModuleType:
    was_set = _VARIABLE in os.environ
    messages = importlib.import_module(f"tensorboardX.proto.{module}_pb2")
    if not was_set:
        os.environ.pop(_VARIABLE, None)
    return messages


def make_plugin_metadata(plugin: str, content: bytes = b"", description: str | None = None) -> Any:
    """A SummaryMetadata that says which plugin of TensorBoard shows a tensor."""
    return message_class("SummaryMetadata")(
        plugin_data={"plugin_name": plugin, "content": content}, summary_description=description or ""
    )


def make_tensor_summary(tag: str, tensor: Any, metadata: Any = None) -> Any:
    """A Summary of one TensorProto, with a SummaryMetadata or none."""
    summary = message_class("Summary")()
    summary.value.add(tag=tag, tensor=tensor, metadata=metadata)
    return summary


def encode_event(summary: Any, step: int, wall_time: float) -> bytes:
    """A Summary at its step, as an event file stores it."""
    return _encode(wall_time, step=step, summary=summary)


def encode_version_event(wall_time: float) -> bytes:
    """The first event of every file."""
    return _encode(wall_time, file_version=_FILE_VERSION)


def encode_restart_event(step: int, wall_time: float) -> bytes:
    """Tells readers to discard what they read before with this step or a later one, because it is written again."""
    session_log = message_class("SessionLog")
    return _encode(wall_time, step=step, session_log=session_log(status=session_log.START))


def _encode(wall_time: float, **fields: Any) -> bytes:
    data: bytes = message_class("Event")(wall_time=wall_time, **fields).SerializeToString()
    return data
