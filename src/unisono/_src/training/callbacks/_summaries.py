"""What TensorBoard shows, as the messages of its event files. Tags and contents are those that TensorFlow writes.

The messages are tensorboardX's. Its writers are not used: they hand events to a thread and a queue, so nobody learns of
a full disk, and nobody can say how far the file was written when a checkpoint was taken.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from unisono._src.data.files import encode_png

_BUCKETS: Final = 30
_MOST_IMAGES: Final = 3  # of one weight, as TensorFlow's `max_outputs`
_FILE_VERSION: Final = "brain.Event:2"


def scalars(values: Mapping[str, Any]) -> Any:
    """One point of a curve for each name. What is no single number is left out."""
    numbers = {tag: value for tag, value in values.items() if np.ndim(value) == 0}
    return _messages("summary").Summary(
        value=[_messages("summary").Summary.Value(tag=tag, simple_value=float(value)) for tag, value in numbers.items()]
    )


def histogram(tag: str, values: Any) -> Any:
    """How the numbers of an array are distributed. Those that are not finite have no place in it.

    >>> summary = histogram("weights", np.array([0.0, 0.5, 1.0]))
    >>> [dim.size for dim in summary.value[0].tensor.tensor_shape.dim]
    [30, 3]
    """
    numbers = np.asarray(values, np.float64).ravel()
    numbers = numbers[np.isfinite(numbers)]
    table = np.zeros((0, 3))
    if numbers.size:
        counts, edges = np.histogram(numbers, bins=_BUCKETS)
        table = np.stack([edges[:-1], edges[1:], counts], axis=1)
    tensor = _messages("tensor").TensorProto(
        dtype=_messages("types").DT_DOUBLE,
        tensor_shape=_shape(table.shape),
        tensor_content=table.astype("<f8").tobytes(),
    )
    return _of_plugin("histograms", tag, tensor)


def images(tag: str, pixels: Any) -> Any:
    """Pictures of equal size, (number, height, width, channels), black where 0 and below, bright where 1 and above."""
    lights = np.clip(np.nan_to_num(np.asarray(pixels, np.float32)), 0, 1)
    shades = np.minimum(lights * 255.5, 255).astype(np.uint8)
    height, width = shades.shape[1:3]
    files = [encode_png(one) for one in shades[:_MOST_IMAGES]]
    return _of_plugin("images", tag, _strings([str(width).encode(), str(height).encode(), *files]))


def keras_model(tag: str, config: str) -> Any:
    """A model's configuration, which TensorBoard draws as a graph of layers."""
    tensor = _messages("tensor").TensorProto(
        dtype=_messages("types").DT_STRING, tensor_shape=_shape(()), string_val=[config.encode()]
    )
    return _of_plugin("graph_keras_model", tag, tensor, content=b"1")


def event(summary: Any, step: int, wall_time: float) -> bytes:
    """A summary at its step, as it stands in a file."""
    return _bytes(_messages("event").Event(wall_time=wall_time, step=step, summary=summary))


def version_event(wall_time: float) -> bytes:
    """The first event of every file."""
    return _bytes(_messages("event").Event(wall_time=wall_time, file_version=_FILE_VERSION))


def restart_event(step: int, wall_time: float) -> bytes:
    """Says that what was read before with this step or a later one will come again, and is to be forgotten."""
    start = _messages("event").SessionLog(status=_messages("event").SessionLog.START)
    return _bytes(_messages("event").Event(wall_time=wall_time, step=step, session_log=start))


@functools.cache
def _messages(name: str) -> Any:
    """One of tensorboardX's modules, not before it is used: it imports boto3 and others where they are installed."""
    return importlib.import_module(f"tensorboardX.proto.{name}_pb2")


def _of_plugin(name: str, tag: str, tensor: Any, content: bytes = b"") -> Any:
    plugin = _messages("summary").SummaryMetadata.PluginData(plugin_name=name, content=content)
    metadata = _messages("summary").SummaryMetadata(plugin_data=plugin)
    return _messages("summary").Summary(
        value=[_messages("summary").Summary.Value(tag=tag, metadata=metadata, tensor=tensor)]
    )


def _strings(values: Sequence[bytes]) -> Any:
    return _messages("tensor").TensorProto(
        dtype=_messages("types").DT_STRING, tensor_shape=_shape((len(values),)), string_val=list(values)
    )


def _shape(shape: tuple[int, ...]) -> Any:
    return _messages("tensor_shape").TensorShapeProto(
        dim=[_messages("tensor_shape").TensorShapeProto.Dim(size=size) for size in shape]
    )


def _bytes(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data
