"""`tf.summary.scalar`, `histogram`, `image`, `text`, `audio` and `write`."""

from __future__ import annotations

import io
import wave
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from unisono._src.data.files import encode_png, make_plugin_metadata, make_tensor_proto, message_class
from unisono.tf._dtypes import as_dtype
from unisono.tf._tensors import as_array, convert_to_tensor, to_host_tensor
from unisono.tf.summary._histogram import compute_histogram
from unisono.tf.summary._record import record

NOT_A_SCALAR = (
    "tf.summary.scalar({name!r}): expected one number, got a tensor of shape {shape}. Take tf.reduce_mean of it."
)
NOT_IMAGES = """tf.summary.image({name!r}): expected a batch of images, (number, height, width, channels) with 1 to 4
channels, got shape {shape}. For one image pass tf.expand_dims(image, 0)."""
NOT_CLIPS = """tf.summary.audio({name!r}): expected a batch of clips, (number, samples, channels) with 1 or 2
channels, got shape {shape}."""
UNKNOWN_ENCODING = "tf.summary.audio(encoding={encoding!r}): expected 'wav' or None."


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """Writes a number, a point of a curve."""
    value = _to_numbers(data)
    if value.shape != ():
        raise ValueError(NOT_A_SCALAR.format(name=name, shape=tuple(value.shape)))
    metadata = make_plugin_metadata("scalars", description=description)
    return record(name, [value], lambda number: (make_tensor_proto(number.astype(np.float32)), metadata), step)


def histogram(
    name: str, data: Any, step: Any = None, buckets: int | None = None, description: str | None = None
) -> bool:
    """Writes the distribution of a tensor's numbers in ``buckets`` buckets (30) of equal width.

    Values that are not finite are left out.
    """
    values = _to_numbers(data)
    table = compute_histogram(values, 30 if buckets is None else buckets)
    metadata = make_plugin_metadata("histograms", description=description)
    return record(name, [table], lambda table: (make_tensor_proto(table.astype(np.float64)), metadata), step)


def image(name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None) -> bool:
    """Writes the first ``max_outputs`` images of (number, height, width, channels).

    Floating-point values are between 0 and 1, uint8 between 0 and 255.
    """
    pixels = _to_numbers(data)
    if len(pixels.shape) != 4 or pixels.shape[3] not in (1, 2, 3, 4):
        raise ValueError(NOT_IMAGES.format(name=name, shape=tuple(pixels.shape)))
    metadata = make_plugin_metadata("images", description=description)

    def content(images: Any) -> tuple[Any, Any]:
        height, width = images.shape[1:3]
        files = [str(width).encode(), str(height).encode(), *(encode_png(each) for each in images)]
        return make_tensor_proto(np.array(files, object)), metadata

    return record(name, [_to_uint8(pixels[:max_outputs])], content, step)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """Writes text, which TensorBoard renders as Markdown; an array is shown as a table."""
    strings = np.asarray(convert_to_tensor(data, "string"))
    tensor = make_tensor_proto(strings.astype(object))
    metadata = make_plugin_metadata("text", description=description)
    return record(name, [], lambda: (tensor, metadata), step)


def audio(
    name: str,
    data: Any,
    sample_rate: int,
    step: Any = None,
    max_outputs: int = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> bool:
    """Writes the first ``max_outputs`` audio clips of (number, samples, channels), with values between -1 and 1."""
    if encoding not in (None, "wav"):
        raise ValueError(UNKNOWN_ENCODING.format(encoding=encoding))
    clips = _to_numbers(data)
    if len(clips.shape) != 3 or clips.shape[2] not in (1, 2):
        raise ValueError(NOT_CLIPS.format(name=name, shape=tuple(clips.shape)))
    metadata = make_plugin_metadata("audio", content=b"\x10\x0b", description=description)  # the encoding is WAV

    def content(clips: Any) -> tuple[Any, Any]:
        files = [[_encode_wav(each, int(sample_rate)), b""] for each in clips]
        return make_tensor_proto(np.array(files, object).reshape(len(files), 2)), metadata

    return record(name, [clips[:max_outputs]], content, step)


def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None) -> bool:
    """Writes any tensor, with a SummaryMetadata message, serialized or not, that names the plugin to show it."""
    if callable(tensor):
        tensor = tensor()
    if metadata is not None:
        data = metadata if isinstance(metadata, bytes) else metadata.SerializeToString()
        metadata = message_class("SummaryMetadata").FromString(data)
    value = convert_to_tensor(tensor) if not isinstance(tensor, np.ndarray) else tensor
    if isinstance(value, np.ndarray):
        return record(tag, [], lambda: (make_tensor_proto(value), metadata), step)
    return record(tag, [value], lambda array: (make_tensor_proto(array), metadata), step)


def _to_numbers(data: Any) -> Any:
    """Returns traced values unchanged and converts others to NumPy arrays, without a copy to a device."""
    if isinstance(data, keras.Variable):
        data = data.value
    if isinstance(data, jax.core.Tracer):
        return data
    if isinstance(data, list | tuple):
        data = as_array(data)
    found = np.asarray(data)
    if not (as_dtype(found.dtype).is_numeric or as_dtype(found.dtype).is_bool):
        raise TypeError(f"Expected numbers, got {to_host_tensor(found)!r}.")
    return data if isinstance(data, jax.core.Tracer) else found


def _to_uint8(pixels: Any) -> Any:
    """Converts pixels to 8 bits."""
    xp = jnp if isinstance(pixels, jax.core.Tracer) else np
    if pixels.dtype == np.uint8:
        return pixels
    if jnp.issubdtype(pixels.dtype, jnp.integer):  # uint16 as in PNG: the upper byte
        return (pixels >> 8).astype(np.uint8) if pixels.dtype == np.uint16 else xp.clip(pixels, 0, 255).astype(np.uint8)
    clipped = xp.clip(xp.nan_to_num(pixels.astype(np.float32)), 0, 1)
    return xp.minimum(clipped * 255.5, 255).astype(np.uint8)


def _encode_wav(samples: Any, sample_rate: int) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(samples.shape[1])
        writer.setsampwidth(2)
        writer.setframerate(sample_rate)
        writer.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return file.getvalue()
