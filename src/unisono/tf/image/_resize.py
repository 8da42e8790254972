"""Resizing, with half-pixel centers as in TensorFlow 2."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from unisono._src.data.files import RESIZE_METHODS, interpolation_taps
from unisono._src.data.files import resize as resize_on_host
from unisono.tf._op import op
from unisono.tf._operands import static_int, static_shape, wrap_host_result
from unisono.tf._tensors import as_array
from unisono.tf.image._crop_pad_flip import pad_to_bounding_box
from unisono.tf.image._pixel_values import to_image_array

_ANTIALIASED: Final = {"bilinear": "linear", "bicubic": "cubic", "lanczos3": "lanczos3", "lanczos5": "lanczos5"}

UNKNOWN_METHOD = "tf.image.resize: method is {method!r}. Expected one of {known}."
NO_ANTIALIAS = "tf.image.resize: antialias=True is supported for {known}, not for {method!r}."


class ResizeMethod:
    """Names of resize methods."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


@op
def resize(
    images: Any, size: Any, method: Any = "bilinear", preserve_aspect_ratio: bool = False, antialias: bool = False
) -> Any:
    """Resizes images to (height, width). Returns float32; method "nearest" keeps the dtype.

    >>> resize(np.array([[[0], [100]]], np.uint8), (1, 4))[0, :, 0].tolist()
    [0.0, 25.0, 75.0, 100.0]
    """
    array = to_image_array(images, "tf.image.resize")
    method = str(method).lower()
    if method not in RESIZE_METHODS:
        raise ValueError(UNKNOWN_METHOD.format(method=method, known=", ".join(RESIZE_METHODS)))
    height, width = (int(each) for each in array.shape[-3:-1])
    target = static_shape(size)
    if len(target) != 2:
        raise ValueError(f"tf.image.resize: size is {target}. Expected two numbers, (height, width).")
    if preserve_aspect_ratio:
        scale = min(target[0] / height, target[1] / width)
        target = (int(np.round(height * scale)), int(np.round(width * scale)))
    if target == (height, width):
        return wrap_host_result(array if method == "nearest" else array.astype(np.float32))
    if antialias and method not in ("nearest", "area"):
        return _resize_antialiased(as_array(array), target, method)
    if isinstance(array, np.ndarray) and array.ndim == 3:
        resized = resize_on_host(np.ascontiguousarray(array), (target[0], target[1]), method)
        return wrap_host_result(resized.astype(array.dtype) if method == "nearest" else resized)
    array = as_array(array)
    rows = _resize_dim(array, target[0], -3, method)
    return _resize_dim(rows, target[1], -2, method)


@op
def resize_with_pad(
    image: Any, target_height: Any, target_width: Any, method: Any = "bilinear", antialias: bool = False
) -> Any:
    """Resizes the image, keeping its aspect ratio, and pads it with zeros to the target size."""
    array = to_image_array(image, "tf.image.resize_with_pad")
    height, width = (int(each) for each in array.shape[-3:-1])
    high, wide = static_int(target_height), static_int(target_width)
    ratio = max(width / wide, height / high)
    inner = (int(np.floor(height / ratio)), int(np.floor(width / ratio)))
    top, left = (max(0, int(np.floor((full - size / ratio) / 2))) for full, size in ((high, height), (wide, width)))
    return pad_to_bounding_box(resize(array, inner, method, antialias=antialias), top, left, high, wide)


@op
def crop_and_resize(
    image: Any, boxes: Any, box_indices: Any, crop_size: Any, method: str = "bilinear", extrapolation_value: Any = 0.0
) -> Any:
    """Crops boxes (y1, x1, y2, x2), as fractions of the image, and resizes them to one size."""
    array, corners, image_indices = as_array(image).astype(jnp.float32), as_array(boxes), as_array(box_indices)
    high, wide = static_shape(crop_size)

    def crop_one(box: Any, image_index: Any) -> Any:
        rows = _sample_positions(box[0], box[2], high, array.shape[1])
        columns = _sample_positions(box[1], box[3], wide, array.shape[2])
        inside = _inside(rows, array.shape[1])[:, None] & _inside(columns, array.shape[2])
        part = _interpolate(array[image_index], rows, columns, method)
        return jnp.where(inside[..., None], part, extrapolation_value)

    return jax.vmap(crop_one)(corners, image_indices)


def _resize_dim(array: Any, length: int, axis: int, method: str) -> Any:
    """Resizes one dim: each new pixel is a weighted sum of old ones."""
    taps = interpolation_taps(int(array.shape[axis]), length, method)
    if method == "nearest":
        return jnp.take(array, taps.indices[0], axis)
    floats = array.astype(jnp.float32)
    shape = [1] * array.ndim
    shape[axis] = length
    total: Any = 0
    for indices, weights in zip(taps.indices, taps.weights, strict=True):
        total = total + jnp.take(floats, indices, axis) * weights.reshape(shape)
    return total


def _resize_antialiased(array: Any, size: tuple[int, ...], method: str) -> Any:
    if method not in _ANTIALIASED:
        raise NotImplementedError(NO_ANTIALIAS.format(known=", ".join(_ANTIALIASED), method=method))
    shape = (*array.shape[:-3], *size, array.shape[-1])
    return jax.image.resize(array.astype(jnp.float32), shape, _ANTIALIASED[method], antialias=True)


def _sample_positions(first: Any, last: Any, count: int, length: int) -> Any:
    """Returns the positions of ``count`` pixels between two fractions of a dim; the middle if there is only one."""
    if count == 1:
        return jnp.full(1, 0.5 * (first + last) * (length - 1))
    return first * (length - 1) + jnp.arange(count) * (last - first) * (length - 1) / (count - 1)


def _inside(positions: Any, length: int) -> Any:
    return (positions >= 0) & (positions <= length - 1)


def _interpolate(image: Any, rows: Any, columns: Any, method: str) -> Any:
    if method == "nearest":
        indices = [
            jnp.clip(jnp.round(each), 0, size - 1) for each, size in ((rows, image.shape[0]), (columns, image.shape[1]))
        ]
        return image[indices[0].astype(int)[:, None], indices[1].astype(int)]
    top, left = jnp.floor(rows), jnp.floor(columns)
    down, right = (rows - top)[:, None, None], (columns - left)[None, :, None]

    def corner(y: Any, x: Any) -> Any:
        y, x = jnp.clip(y, 0, image.shape[0] - 1), jnp.clip(x, 0, image.shape[1] - 1)
        return image[y.astype(int)[:, None], x.astype(int)]

    above = corner(top, left) * (1 - right) + corner(top, left + 1) * right
    below = corner(top + 1, left) * (1 - right) + corner(top + 1, left + 1) * right
    return above * (1 - down) + below * down
