"""`scalar`, `histogram`, `image`, `text`, `audio` and `write`: what TensorBoard shows."""

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
from unisono.tf.summary._buckets import bucketed
from unisono.tf.summary._record import record

NOT_ONE_NUMBER = (
    "tf.summary.scalar({name!r}): expected one number, got a tensor of shape {shape}. Take tf.reduce_mean of it."
)
NOT_PICTURES = """tf.summary.image({name!r}): expected a batch of pictures, (number, height, width, channels) with 1 to
4 channels, got shape {shape}. Of one picture write tf.expand_dims(image, 0)."""
NOT_SOUNDS = """tf.summary.audio({name!r}): expected a batch of sounds, (number, samples, channels) with 1 or 2
channels, got shape {shape}."""
NOT_WAV = "tf.summary.audio(encoding={encoding!r}): sounds are written as 'wav' only."


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """A point of a curve."""
    value = _array(data)
    if value.shape != ():
        raise ValueError(NOT_ONE_NUMBER.format(name=name, shape=tuple(value.shape)))
    metadata = make_plugin_metadata("scalars", description=description)
    return record(name, [value], lambda number: (make_tensor_proto(number.astype(np.float32)), metadata), step)


def histogram(
    name: str, data: Any, step: Any = None, buckets: int | None = None, description: str | None = None
) -> bool:
    """How the numbers of a tensor are distributed, in ``buckets`` buckets (30) of equal width. Non-finite ones are
    left out."""
    values = _array(data)
    table = bucketed(values, 30 if buckets is None else buckets)
    metadata = make_plugin_metadata("histograms", description=description)
    return record(name, [table], lambda table: (make_tensor_proto(table.astype(np.float64)), metadata), step)


def image(name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None) -> bool:
    """Pictures, (number, height, width, channels), of which the first ``max_outputs`` are written.

    Floating-point numbers are between 0 and 1; uint8 between 0 and 255.
    """
    pixels = _array(data)
    if len(pixels.shape) != 4 or pixels.shape[3] not in (1, 2, 3, 4):
        raise ValueError(NOT_PICTURES.format(name=name, shape=tuple(pixels.shape)))
    metadata = make_plugin_metadata("images", description=description)

    def content(shades: Any) -> tuple[Any, Any]:
        height, width = shades.shape[1:3]
        files = [str(width).encode(), str(height).encode(), *(encode_png(one) for one in shades)]
        return make_tensor_proto(np.array(files, object)), metadata

    return record(name, [_shades(pixels[:max_outputs])], content, step)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """Text, which TensorBoard takes for Markdown; an array of it is shown as a table."""
    words = np.asarray(convert_to_tensor(data, "string"))
    tensor = make_tensor_proto(words.astype(object))
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
    """Sounds, (number, samples, channels) between -1 and 1, of which the first ``max_outputs`` are written."""
    if encoding not in (None, "wav"):
        raise ValueError(NOT_WAV.format(encoding=encoding))
    waves = _array(data)
    if len(waves.shape) != 3 or waves.shape[2] not in (1, 2):
        raise ValueError(NOT_SOUNDS.format(name=name, shape=tuple(waves.shape)))
    metadata = make_plugin_metadata("audio", content=b"\x10\x0b", description=description)  # that the encoding is WAV

    def content(waves: Any) -> tuple[Any, Any]:
        files = [[_wav(one, int(sample_rate)), b""] for one in waves]
        return make_tensor_proto(np.array(files, object).reshape(len(files), 2)), metadata

    return record(name, [waves[:max_outputs]], content, step)


def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None) -> bool:
    """Any tensor, with the serialized SummaryMetadata or the message of one that says who shows it."""
    if callable(tensor):
        tensor = tensor()
    if metadata is not None:
        data = metadata if isinstance(metadata, bytes) else metadata.SerializeToString()
        metadata = message_class("SummaryMetadata").FromString(data)
    value = convert_to_tensor(tensor) if not isinstance(tensor, np.ndarray) else tensor
    if isinstance(value, np.ndarray):
        return record(tag, [], lambda: (make_tensor_proto(value), metadata), step)
    return record(tag, [value], lambda array: (make_tensor_proto(array), metadata), step)


def _array(data: Any) -> Any:
    """Numbers of a compiled function as they are, all others as NumPy has them: nothing goes to a device and back."""
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


def _shades(pixels: Any) -> Any:
    """Pixels in 8 bits."""
    library = jnp if isinstance(pixels, jax.core.Tracer) else np
    if pixels.dtype == np.uint8:
        return pixels
    if jnp.issubdtype(pixels.dtype, jnp.integer):  # uint16, as PNG has it: the upper half
        return (
            (pixels >> 8).astype(np.uint8)
            if pixels.dtype == np.uint16
            else library.clip(pixels, 0, 255).astype(np.uint8)
        )
    lights = library.clip(library.nan_to_num(pixels.astype(np.float32)), 0, 1)
    return library.minimum(lights * 255.5, 255).astype(np.uint8)


def _wav(samples: Any, sample_rate: int) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(samples.shape[1])
        writer.setsampwidth(2)
        writer.setframerate(sample_rate)
        writer.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return file.getvalue()
