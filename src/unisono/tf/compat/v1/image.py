"""`tf.compat.v1.image`: `tf.image`, with TensorFlow 1's functions for resizing, which place pixels differently."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono.tf import image as tf_image
from unisono.tf._operands import static_shape
from unisono.tf._tensors import as_array
from unisono.tf.compat.v1._functions import extract_image_patches
from unisono.tf.compat.v1._tf2_names import names_from_tf2 as _names_from_tf2

OLD_BICUBIC = """tf.compat.v1.image.{name}: bicubic interpolation without half-pixel centers is not supported. Use
tf.image.resize(images, size, method="bicubic")."""

__all__ = ["ResizeMethod", "extract_image_patches"]


class ResizeMethod:
    """Numbers of resize methods."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


def resize_images(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: Any = None,
) -> Any:
    """Resizes images. Pixel (0, 0) stays in its place, unlike in `tf.image.resize`."""
    height, width = static_shape(size)
    if preserve_aspect_ratio:
        old_height, old_width = np.shape(images)[-3:-1]
        scale = min(height / old_height, width / old_width)
        height, width = round(old_height * scale), round(old_width * scale)
    known = {0: resize_bilinear, 1: resize_nearest_neighbor, 2: resize_bicubic, 3: resize_area}
    names = {"bilinear": 0, "nearest": 1, "bicubic": 2, "area": 3}
    return known[names.get(method, method)](images, (height, width), align_corners)


def resize_bilinear(
    images: Any, size: Any, align_corners: bool = False, name: Any = None, half_pixel_centers: bool = False
) -> Any:
    """Resizes images with linear interpolation. Returns float32."""
    if half_pixel_centers:
        return tf_image.resize(images, size)
    array = as_array(images).astype(jnp.float32)
    for axis, length in zip((-3, -2), static_shape(size), strict=True):
        positions = _positions(array.shape[axis], length, align_corners)
        low = np.floor(positions).astype(int)
        high = np.minimum(low + 1, array.shape[axis] - 1)
        weight = np.expand_dims((positions - low).astype(np.float32), tuple(range(1, -axis)))
        first, second = jnp.take(array, low, axis), jnp.take(array, high, axis)
        array = first + (second - first) * weight
    return array


def resize_nearest_neighbor(
    images: Any, size: Any, align_corners: bool = False, name: Any = None, half_pixel_centers: bool = False
) -> Any:
    """Resizes images by repeating or leaving out pixels. Keeps the dtype."""
    if half_pixel_centers:
        return tf_image.resize(images, size, method="nearest")
    array = as_array(images)
    for axis, length in zip((-3, -2), static_shape(size), strict=True):
        positions = _positions(array.shape[axis], length, align_corners)
        rounded = np.floor(positions + 0.5) if align_corners else np.floor(positions)
        array = jnp.take(array, np.minimum(rounded.astype(int), array.shape[axis] - 1), axis)
    return array


def resize_bicubic(
    images: Any, size: Any, align_corners: bool = False, name: Any = None, half_pixel_centers: bool = False
) -> Any:
    """Resizes images with cubic interpolation; only with ``half_pixel_centers``."""
    if not half_pixel_centers:
        raise NotImplementedError(OLD_BICUBIC.format(name="resize_bicubic"))
    return tf_image.resize(images, size, method="bicubic")


def resize_area(images: Any, size: Any, align_corners: bool = False, name: Any = None) -> Any:
    """Resizes images with the mean of the pixels that a new one covers."""
    return tf_image.resize(images, size, method="area")


resize = resize_images


def _positions(old: int, new: int, align_corners: bool) -> Any:
    scale = (old - 1) / (new - 1) if align_corners and new > 1 else old / new
    return np.arange(new) * scale


__getattr__ = _names_from_tf2("tf.compat.v1.image", "unisono.tf.image")
