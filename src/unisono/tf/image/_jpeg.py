"""Image files as tensors and back, on the host: those of `tf.io`, and two more."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono._src.data import files
from unisono.tf._op import op
from unisono.tf._operands import static_value
from unisono.tf._tensors import to_host_tensor
from unisono.tf.image._pixel_values import convert_image_dtype
from unisono.tf.io._images import decode_jpeg


@op
def decode_and_crop_jpeg(contents: Any, crop_window: Any, channels: Any = 0) -> Any:
    """A part of the pixels of a JPEG file; the window is (y, x, height, width)."""
    y, x, height, width = (int(each) for each in static_value(crop_window, "The window of a crop"))
    return to_host_tensor(np.asarray(decode_jpeg(contents, channels))[y : y + height, x : x + width])


@op
def adjust_jpeg_quality(image: Any, jpeg_quality: int) -> Any:
    """The image after it has been a JPEG file of this quality."""
    given = static_value(image, "An image to be encoded")
    coded = files.encode_jpeg(np.asarray(convert_image_dtype(given, "uint8", saturate=True)), int(jpeg_quality))
    return convert_image_dtype(files.decode_jpeg(coded), given.dtype)
