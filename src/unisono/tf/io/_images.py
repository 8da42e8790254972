"""Decodes and encodes images, on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono._src.data import files
from unisono.tf import errors
from unisono.tf._dtypes import as_dtype, uint8, uint16
from unisono.tf._tensors import HostTensor, to_host_tensor
from unisono.tf.io._bytes import to_byte_string, to_byte_tensor


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> HostTensor:
    """Decodes a JPEG, PNG, GIF or BMP file to (height, width, channels); of an animation the first frame."""
    wanted, data = as_dtype(dtype), to_byte_string(contents, "tf.io.decode_image")
    if not wanted.is_floating and wanted not in (uint8, uint16):
        raise TypeError(f"tf.io.decode_image: dtype is {wanted!r}. Expected tf.uint8, tf.uint16 or tf.float32.")
    try:
        exact = None if wanted == uint8 else files.decode_16_bits(data, channels or 0)
        pixels = files.decode_image(data, channels or 0) if exact is None else exact
    except files.ImageError as error:
        raise errors.InvalidArgumentError(None, None, f"tf.io.{error}") from error
    if wanted.is_floating:
        return to_host_tensor((pixels / np.float32(np.iinfo(pixels.dtype).max)).astype(wanted.dtype))
    if wanted == uint16 and exact is None:
        return to_host_tensor(pixels.astype(np.uint16) * np.uint16(257))
    return to_host_tensor(pixels)


def decode_jpeg(contents: Any, channels: int = 0, ratio: int = 1, name: str | None = None, **_: Any) -> HostTensor:
    """Decodes an image to (height, width, channels). Options of the decoder such as `dct_method` have no effect."""
    if ratio != 1:
        raise ValueError(f"tf.io.decode_jpeg: ratio is {ratio}. Expected 1; decode the image, and use tf.image.resize.")
    return decode_image(contents, channels)


def decode_and_crop_jpeg(
    contents: Any, crop_window: Any, channels: int = 0, ratio: int = 1, name: str | None = None, **_: Any
) -> HostTensor:
    """Decodes an image and crops it to ``crop_window``: y, x, height, width."""
    y, x, height, width = (int(each) for each in np.asarray(crop_window))
    pixels = np.asarray(decode_jpeg(contents, channels, ratio))
    if min(y, x) < 0 or min(height, width) < 1 or y + height > pixels.shape[0] or x + width > pixels.shape[1]:
        message = f"tf.io.decode_and_crop_jpeg: crop_window is {(y, x, height, width)}, the image {pixels.shape[:2]}."
        raise errors.InvalidArgumentError(None, None, message)
    return to_host_tensor(pixels[y : y + height, x : x + width])


def decode_png(contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None) -> HostTensor:
    """Decodes an image to (height, width, channels)."""
    return decode_image(contents, channels, dtype)


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> HostTensor:
    """Decodes an image to (height, width, channels)."""
    return decode_image(contents, channels)


def encode_jpeg(image: Any, format: str = "", quality: int = 95, name: str | None = None, **_: Any) -> HostTensor:
    """Encodes a uint8 image (height, width, 1 or 3) as JPEG. Other options of the encoder have no effect."""
    return to_byte_tensor(files.encode_jpeg(np.asarray(image), quality))


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> HostTensor:
    """Encodes a uint8 or uint16 image (height, width, 1 to 4) as PNG."""
    return to_byte_tensor(files.encode_png(np.asarray(image)))


def is_jpeg(contents: Any, name: str | None = None) -> bool:
    """Whether bytes start with a JPEG signature."""
    return to_byte_string(contents, "tf.io.is_jpeg").startswith(b"\xff\xd8\xff")


def extract_jpeg_shape(contents: Any, output_type: Any = "int32", name: str | None = None) -> HostTensor:
    """Height, width and channels of a JPEG file."""
    return to_host_tensor(np.array(np.shape(decode_image(contents)), as_dtype(output_type).dtype))
