"""Events of TensorBoard's files, in TensorFlow's bytes.

Event   { double wall_time = 1, int64 step = 2, string file_version = 3, Summary summary = 5 }
Summary { repeated Value value = 1 }, a value is { tag = 1, TensorProto tensor = 8, SummaryMetadata metadata = 9 }
SummaryMetadata { PluginData plugin_data = 1 { plugin_name = 1, content = 2 }, summary_description = 3 }
"""

from __future__ import annotations

import struct
from typing import Final

from unisono._src.data.files._wire import encode_field, encode_varint

_FILE_VERSION: Final = b"brain.Event:2"


def version_event(wall_time: float) -> bytes:
    """The first event of every file."""
    return _time(wall_time) + encode_field(3, _FILE_VERSION)


def tensor_event(tag: str, tensor: bytes, metadata: bytes, step: int, wall_time: float) -> bytes:
    """A serialized TensorProto at its step, with serialized metadata or none."""
    value = encode_field(1, tag.encode()) + encode_field(8, tensor)
    return summary_event(encode_field(1, value + (encode_field(9, metadata) if metadata else b"")), step, wall_time)


def summary_event(summary: bytes, step: int, wall_time: float) -> bytes:
    """A serialized Summary at its step."""
    return _time(wall_time) + (b"\x10" + encode_varint(step) if step else b"") + encode_field(5, summary)


def plugin_metadata(plugin: str, content: bytes = b"", description: str | None = None) -> bytes:
    """Which plugin of TensorBoard shows the tensor."""
    data = encode_field(1, plugin.encode()) + (encode_field(2, content) if content else b"")
    return encode_field(1, data) + (encode_field(3, description.encode()) if description else b"")


def _time(wall_time: float) -> bytes:
    return b"\x09" + struct.pack("<d", wall_time)
