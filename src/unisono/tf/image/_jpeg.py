"""JPEG functions that `tf.image` has and `tf.io` does not. They run on the host."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from unisono._src.data import files
from unisono.tf._op import op, op_without_folding
from unisono.tf._operands import static_value
from unisono.tf.image._pixel_values import convert_image_dtype
from unisono.tf.random._seed_generators import next_key


@op
def adjust_jpeg_quality(image: Any, jpeg_quality: int) -> Any:
    """Encodes the image as a JPEG file of this quality and decodes it again."""
    pixels = static_value(image, "The image for JPEG encoding")
    encoded = files.encode_jpeg(np.asarray(convert_image_dtype(pixels, "uint8", saturate=True)), int(jpeg_quality))
    return convert_image_dtype(files.decode_jpeg(encoded), pixels.dtype)


@op_without_folding
def random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any = None) -> Any:
    """Calls :func:`adjust_jpeg_quality` with a quality from [min_jpeg_quality, max_jpeg_quality)."""
    quality = jax.random.randint(next_key(seed), (), min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, int(quality))
