"""Cropping, padding, flipping and rotating images, and extracting patches."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._op import op
from unisono.tf._operands import array_module, static_int, wrap_host_result
from unisono.tf.image._pixel_values import to_image_array

OUTSIDE = """tf.image.crop_to_bounding_box: the image is {height} x {width}. The box of {high} x {wide} at row {top} and
column {left} is not inside it."""

NOT_SQUARE = """tf.image.rot90: `k` is known only when the compiled function runs, and the image is {height} x {width}:
the result's shape would depend on `k`. Make the image square first, or pass a Python number."""


@op
def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Crops the image to the target size, starting at the offset."""
    array = to_image_array(image, "tf.image.crop_to_bounding_box")
    height, width = array.shape[-3:-1]
    top, left, high, wide = (static_int(each) for each in (offset_height, offset_width, target_height, target_width))
    if top < 0 or left < 0 or high < 1 or wide < 1 or top + high > height or left + wide > width:
        where = {"top": top, "left": left, "high": high, "wide": wide, "height": height, "width": width}
        raise ValueError(OUTSIDE.format(**where))
    return wrap_host_result(array[..., top : top + high, left : left + wide, :])


@op
def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Pads the image with zeros to the target size; the image starts at the offset."""
    array = to_image_array(image, "tf.image.pad_to_bounding_box")
    height, width = array.shape[-3:-1]
    top, left, high, wide = (static_int(each) for each in (offset_height, offset_width, target_height, target_width))
    below, right = high - top - height, wide - left - width
    if min(top, left, below, right) < 0:
        raise ValueError(
            f"tf.image.pad_to_bounding_box: an image of {height} x {width} at row {top} and column {left} does not fit "
            f"into {high} x {wide}."
        )
    padding = [(0, 0)] * (array.ndim - 3) + [(top, below), (left, right), (0, 0)]
    return wrap_host_result(array_module(array).pad(array, padding))


@op
def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """Crops or pads the image around its center to the target size; padding is 0."""
    array = to_image_array(image, "tf.image.resize_with_crop_or_pad")
    height, width = (int(each) for each in array.shape[-3:-1])
    high, wide = static_int(target_height), static_int(target_width)
    top, left = max((height - high) // 2, 0), max((width - wide) // 2, 0)
    cropped = crop_to_bounding_box(array, top, left, min(high, height), min(wide, width))
    return pad_to_bounding_box(cropped, max((high - height) // 2, 0), max((wide - width) // 2, 0), high, wide)


@op
def central_crop(image: Any, central_fraction: Any) -> Any:
    """Crops the center of the image to this fraction of its height and width."""
    array = to_image_array(image, "tf.image.central_crop")
    fraction = float(central_fraction)
    if not 0 < fraction <= 1:
        raise ValueError(
            f"tf.image.central_crop: central_fraction is {fraction}. Expected a number above 0 and at most 1."
        )
    height, width = (int(each) for each in array.shape[-3:-1])
    top, left = int((height - height * fraction) / 2), int((width - width * fraction) / 2)
    return wrap_host_result(array[..., top : height - top, left : width - left, :])


@op
def flip_left_right(image: Any) -> Any:
    """Mirrors the image horizontally."""
    array = to_image_array(image, "tf.image.flip_left_right")
    return wrap_host_result(array_module(array).flip(array, -2))


@op
def flip_up_down(image: Any) -> Any:
    """Mirrors the image vertically."""
    array = to_image_array(image, "tf.image.flip_up_down")
    return wrap_host_result(array_module(array).flip(array, -3))


@op
def transpose(image: Any) -> Any:
    """Swaps rows and columns."""
    array = to_image_array(image, "tf.image.transpose")
    return wrap_host_result(array_module(array).swapaxes(array, -3, -2))


@op
def rot90(image: Any, k: Any = 1) -> Any:
    """Rotates by 90 degrees counter-clockwise, ``k`` times."""
    array = to_image_array(image, "tf.image.rot90")
    if not isinstance(k, jax.core.Tracer):
        return wrap_host_result(array_module(array).rot90(array, static_int(k) % 4, (-3, -2)))
    if array.shape[-3] != array.shape[-2]:
        raise ValueError(NOT_SQUARE.format(height=array.shape[-3], width=array.shape[-2]))
    rotations = [functools.partial(jnp.rot90, k=times, axes=(-3, -2)) for times in range(4)]
    return wrap_host_result(jax.lax.switch(jnp.reshape(k, ()) % 4, rotations, jnp.asarray(array)))


@op
def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: str) -> Any:
    """Extracts patches; the last dim has the pixels of one patch in row order."""
    array = jnp.asarray(to_image_array(images, "tf.image.extract_patches"))
    (_, high, wide, _), (_, down, right, _), (_, row, column, _) = (map(int, each) for each in (sizes, strides, rates))
    reach = ((high - 1) * row + 1, (wide - 1) * column + 1)
    if padding.upper() == "SAME":
        array = jnp.pad(array, [(0, 0), *map(_same_padding, array.shape[1:3], reach, (down, right)), (0, 0)])
    counts = [
        (full - part) // step + 1 for full, part, step in zip(array.shape[1:3], reach, (down, right), strict=True)
    ]
    rows = np.arange(counts[0])[:, None] * down + np.arange(high) * row
    columns = np.arange(counts[1])[:, None] * right + np.arange(wide) * column
    patches = array[:, rows[:, None, :, None], columns[None, :, None, :]]
    return patches.reshape(array.shape[0], *counts, high * wide * array.shape[3])


def _same_padding(length: int, reach: int, step: int) -> tuple[int, int]:
    missing = max(0, (-(-length // step) - 1) * step + reach - length)
    return missing // 2, missing - missing // 2
