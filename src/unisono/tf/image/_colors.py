"""Color spaces, and adjustments of brightness, contrast, gamma, saturation, hue and JPEG quality."""

from __future__ import annotations

import math
from typing import Any, Final

import jax.numpy as jnp
import numpy as np

from unisono._src.data import files
from unisono.tf._op import op
from unisono.tf._operands import as_floating, static_value
from unisono.tf._tensors import as_array
from unisono.tf.image._pixel_values import compute_in_float, convert_image_dtype

_GRAY_WEIGHTS: Final = np.array([0.2989, 0.5870, 0.1140], np.float32)
_RGB_TO_YIQ: Final = np.array(
    [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]], np.float32
)
_RGB_TO_YUV: Final = np.array(
    [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]], np.float32
)


@op
def rgb_to_grayscale(images: Any) -> Any:
    """Converts RGB to one gray channel, weighted by perceived brightness."""
    return compute_in_float(images, lambda image: jnp.sum(image * _GRAY_WEIGHTS.astype(image.dtype), -1, keepdims=True))


@op
def grayscale_to_rgb(images: Any) -> Any:
    """Repeats the gray channel three times."""
    array = as_array(images)
    return jnp.concatenate([array] * 3, -1)


@op
def rgb_to_hsv(images: Any) -> Any:
    """Converts RGB to hue, saturation and value, all in [0, 1]."""
    array = as_floating(images)
    red, green, blue = (array[..., channel] for channel in range(3))
    value = jnp.max(array, -1)
    spread = value - jnp.min(array, -1)
    safe = jnp.where(spread > 0, spread, 1)
    saturation = jnp.where(value > 0, spread / jnp.where(value > 0, value, 1), 0)
    hue = jnp.where(
        red == value,
        (green - blue) / safe,
        jnp.where(green == value, (blue - red) / safe + 2, (red - green) / safe + 4),
    )
    hue = jnp.where(spread > 0, hue / 6, 0)
    return jnp.stack([jnp.where(hue < 0, hue + 1, hue), saturation, value], -1)


@op
def hsv_to_rgb(images: Any) -> Any:
    """Converts hue, saturation and value to RGB."""
    array = as_floating(images)
    hue, saturation, value = (array[..., channel] for channel in range(3))
    angle = hue * 6
    shares = [
        jnp.clip(jnp.abs(angle - 3) - 1, 0, 1),
        jnp.clip(2 - jnp.abs(angle - 2), 0, 1),
        jnp.clip(2 - jnp.abs(angle - 4), 0, 1),
    ]
    return jnp.stack([((share - 1) * saturation + 1) * value for share in shares], -1)


@op
def rgb_to_yiq(images: Any) -> Any:
    """Converts RGB to YIQ."""
    return _multiply_channels(images, _RGB_TO_YIQ)


@op
def yiq_to_rgb(images: Any) -> Any:
    """Converts YIQ to RGB."""
    return _multiply_channels(images, np.linalg.inv(_RGB_TO_YIQ))


@op
def rgb_to_yuv(images: Any) -> Any:
    """Converts RGB to YUV."""
    return _multiply_channels(images, _RGB_TO_YUV)


@op
def yuv_to_rgb(images: Any) -> Any:
    """Converts YUV to RGB."""
    return _multiply_channels(images, np.linalg.inv(_RGB_TO_YUV))


@op
def adjust_brightness(image: Any, delta: Any) -> Any:
    """Adds ``delta`` to the image as floats in [0, 1]."""
    return compute_in_float(image, lambda floats: floats + as_array(delta, floats.dtype))


@op
def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Returns `(x - mean) * contrast_factor + mean` for each channel."""

    def adjust(floats: Any) -> Any:
        mean = jnp.mean(floats, (-3, -2), keepdims=True)
        return (floats - mean) * as_array(contrast_factor, floats.dtype) + mean

    return compute_in_float(images, adjust)


@op
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """`gain * image ** gamma`."""
    return compute_in_float(
        image, lambda floats: as_array(gain, floats.dtype) * floats ** as_array(gamma, floats.dtype)
    )


@op
def adjust_saturation(image: Any, saturation_factor: Any) -> Any:
    """Multiplies the saturation by ``saturation_factor``."""

    def adjust(floats: Any) -> Any:
        hsv = rgb_to_hsv(floats)
        saturation = jnp.clip(hsv[..., 1:2] * as_array(saturation_factor, hsv.dtype), 0, 1)
        return hsv_to_rgb(jnp.concatenate([hsv[..., :1], saturation, hsv[..., 2:]], -1))

    return compute_in_float(image, adjust)


@op
def adjust_hue(image: Any, delta: Any) -> Any:
    """Adds ``delta``, a fraction of the color circle, to the hue."""

    def adjust(floats: Any) -> Any:
        hsv = rgb_to_hsv(floats)
        hue = jnp.mod(hsv[..., :1] + as_array(delta, hsv.dtype), 1)
        return hsv_to_rgb(jnp.concatenate([hue, hsv[..., 1:]], -1))

    return compute_in_float(image, adjust)


@op
def adjust_jpeg_quality(image: Any, jpeg_quality: int) -> Any:
    """Encodes the image as a JPEG file of this quality and decodes it again, on the host."""
    pixels = static_value(image, "The image for JPEG encoding")
    encoded = files.encode_jpeg(np.asarray(convert_image_dtype(pixels, "uint8", saturate=True)), int(jpeg_quality))
    return convert_image_dtype(files.decode_jpeg(encoded), pixels.dtype)


@op
def per_image_standardization(image: Any) -> Any:
    """Scales every image to mean 0 and variance 1; the divisor is at least `1 / sqrt(number of values)`."""
    array = as_array(image)
    floats = array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(jnp.float32)
    count = int(np.prod(floats.shape[-3:]))
    mean = jnp.mean(floats, (-3, -2, -1), keepdims=True)
    deviation = jnp.std(floats, (-3, -2, -1), keepdims=True)
    return (floats - mean) / jnp.maximum(deviation, 1 / math.sqrt(count))


def _multiply_channels(images: Any, matrix: Any) -> Any:
    array = as_floating(images)
    return jnp.einsum("...c,cd->...d", array, jnp.asarray(matrix, array.dtype), precision="highest")
