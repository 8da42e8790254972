"""Images in other sizes, with half-pixel centres as TensorFlow has it."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from unisono._src.data.files import RESIZE_METHODS, interpolation_taps
from unisono._src.data.files import resize as resize_on_host
from unisono.tf._op import op
from unisono.tf._operands import static_int, static_shape
from unisono.tf._tensors import as_array
from unisono.tf.image._crop_pad_flip import pad_to_bounding_box
from unisono.tf.image._pixel_values import given_back, in_batches, to_image_array

_ANTIALIASED: Final = {"bilinear": "linear", "bicubic": "cubic", "lanczos3": "lanczos3", "lanczos5": "lanczos5"}

UNKNOWN = "tf.image.resize: method is {method!r}. Expected one of {known}."
NO_ANTIALIAS = "tf.image.resize: antialias=True is there for {known}, not for {method!r}."


class ResizeMethod:
    """The names of methods."""

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
    """Images in another size, (height, width), as float32; with "nearest" in the dtype that they have.

    >>> resize(np.array([[[0], [100]]], np.uint8), (1, 4))[0, :, 0].tolist()
    [0.0, 25.0, 75.0, 100.0]
    """
    array = to_image_array(images, "tf.image.resize")
    method = str(method).lower()
    if method not in RESIZE_METHODS:
        raise ValueError(UNKNOWN.format(method=method, known=", ".join(RESIZE_METHODS)))
    height, width = (int(each) for each in array.shape[-3:-1])
    wanted = static_shape(size)
    if len(wanted) != 2:
        raise ValueError(f"tf.image.resize: size is {wanted}. Expected two numbers, (height, width).")
    if preserve_aspect_ratio:
        scale = min(wanted[0] / height, wanted[1] / width)
        wanted = (_rounded(height * scale), _rounded(width * scale))
    if wanted == (height, width):
        return given_back(array if method == "nearest" else array.astype(np.float32))
    if antialias and method not in ("nearest", "area"):
        return _antialiased(as_array(array), wanted, method)
    if isinstance(array, np.ndarray) and array.ndim == 3:
        found = resize_on_host(np.ascontiguousarray(array), (wanted[0], wanted[1]), method)
        return given_back(found.astype(array.dtype) if method == "nearest" else found)
    array = as_array(array)
    rows = _along(array, wanted[0], -3, method)
    return _along(rows, wanted[1], -2, method)


@op
def resize_with_pad(
    image: Any, target_height: Any, target_width: Any, method: Any = "bilinear", antialias: bool = False
) -> Any:
    """The whole image in its proportions, in the middle of a black one of this size."""
    array = to_image_array(image, "tf.image.resize_with_pad")
    height, width = (int(each) for each in array.shape[-3:-1])
    high, wide = static_int(target_height), static_int(target_width)
    ratio = max(width / wide, height / high)
    inner = (int(np.floor(height / ratio)), int(np.floor(width / ratio)))
    top, left = (max(0, int(np.floor((full - part / ratio) / 2))) for full, part in ((high, height), (wide, width)))
    return pad_to_bounding_box(resize(array, inner, method, antialias=antialias), top, left, high, wide)


@op
def crop_and_resize(
    image: Any, boxes: Any, box_indices: Any, crop_size: Any, method: str = "bilinear", extrapolation_value: Any = 0.0
) -> Any:
    """Parts of images, in one size; a box is (y1, x1, y2, x2) in parts of the image."""
    array, corners, numbers = as_array(image).astype(jnp.float32), as_array(boxes), as_array(box_indices)
    high, wide = static_shape(crop_size)

    def one(box: Any, number: Any) -> Any:
        rows = _sampled(box[0], box[2], high, array.shape[1])
        columns = _sampled(box[1], box[3], wide, array.shape[2])
        inside = _inside(rows, array.shape[1])[:, None] & _inside(columns, array.shape[2])
        part = _interpolated(array[number], rows, columns, method)
        return jnp.where(inside[..., None], part, extrapolation_value)

    return jax.vmap(one)(corners, numbers)


def _along(array: Any, length: int, axis: int, method: str) -> Any:
    """The sum of the pixels that go into each new one, along one dim."""
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


def _antialiased(array: Any, size: tuple[int, ...], method: str) -> Any:
    if method not in _ANTIALIASED:
        raise NotImplementedError(NO_ANTIALIAS.format(known=", ".join(_ANTIALIASED), method=method))
    floats = array.astype(jnp.float32)
    return in_batches(
        floats,
        lambda batch: jax.image.resize(
            batch, (batch.shape[0], *size, batch.shape[3]), _ANTIALIASED[method], antialias=True
        ),
    )


def _rounded(number: float) -> int:
    return int(np.round(number))


def _sampled(first: Any, last: Any, count: int, length: int) -> Any:
    """The places of new pixels between two parts of a dim: the middle if there is one only."""
    if count == 1:
        return jnp.full(1, 0.5 * (first + last) * (length - 1))
    return first * (length - 1) + jnp.arange(count) * (last - first) * (length - 1) / (count - 1)


def _inside(places: Any, length: int) -> Any:
    return (places >= 0) & (places <= length - 1)


def _interpolated(image: Any, rows: Any, columns: Any, method: str) -> Any:
    if method == "nearest":
        at = [
            jnp.clip(jnp.round(each), 0, size - 1) for each, size in ((rows, image.shape[0]), (columns, image.shape[1]))
        ]
        return image[at[0].astype(int)[:, None], at[1].astype(int)]
    top, left = jnp.floor(rows), jnp.floor(columns)
    down, right = (rows - top)[:, None, None], (columns - left)[None, :, None]

    def corner(y: Any, x: Any) -> Any:
        y, x = jnp.clip(y, 0, image.shape[0] - 1), jnp.clip(x, 0, image.shape[1] - 1)
        return image[y.astype(int)[:, None], x.astype(int)]

    above = corner(top, left) * (1 - right) + corner(top, left + 1) * right
    below = corner(top + 1, left) * (1 - right) + corner(top + 1, left + 1) * right
    return above * (1 - down) + below * down
