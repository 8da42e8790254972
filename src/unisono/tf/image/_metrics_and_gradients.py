"""Image quality metrics (`psnr`, `ssim`, `total_variation`) and gradients (`image_gradients`, `sobel_edges`)."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._op import op
from unisono.tf._tensors import as_array
from unisono.tf.image._pixel_values import convert_image_dtype
from unisono.tf.math import _tie_gradients as ties


@op
def psnr(a: Any, b: Any, max_val: Any) -> Any:
    """Peak signal-to-noise ratio between two images, in decibels."""
    peak = convert_image_dtype(as_array(max_val, as_array(a).dtype), "float32")
    difference = convert_image_dtype(a, "float32") - convert_image_dtype(b, "float32")
    error = jnp.mean(jnp.square(difference), (-3, -2, -1))
    return 20 * jnp.log10(peak) - 10 * jnp.log10(error)


@op
def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Any:
    """Structural similarity of two images, at most 1; per pixel with ``return_index_map``."""
    peak = convert_image_dtype(as_array(max_val, as_array(img1).dtype), "float32")
    first, second = convert_image_dtype(img1, "float32"), convert_image_dtype(img2, "float32")
    exponents = np.square(np.arange(filter_size) - (filter_size - 1) / 2) / (-2 * filter_sigma**2)
    kernel = np.exp(exponents) / np.exp(exponents).sum()
    c1, c2 = (k1 * peak) ** 2, (k2 * peak) ** 2
    mean1, mean2 = _blur(first, kernel), _blur(second, kernel)
    product, squares = mean1 * mean2, jnp.square(mean1) + jnp.square(mean2)
    luminance = (2 * product + c1) / (squares + c1)
    covariance = _blur(first * second, kernel) * 2 - product * 2
    variance = _blur(jnp.square(first) + jnp.square(second), kernel) - squares
    index = luminance * (covariance + c2) / (variance + c2)
    return index if return_index_map else jnp.mean(jnp.mean(index, (-3, -2)), -1)


@op
def total_variation(images: Any) -> Any:
    """Sum of the absolute differences between neighboring pixels, for each image."""
    array = as_array(images)
    down = ties.abs(array[..., 1:, :, :] - array[..., :-1, :, :])
    right = ties.abs(array[..., :, 1:, :] - array[..., :, :-1, :])
    return jnp.sum(down, (-3, -2, -1)) + jnp.sum(right, (-3, -2, -1))


@op
def image_gradients(image: Any) -> Any:
    """Differences (dy, dx) to the next row and to the next column; 0 in the last row and column."""
    array = as_array(image)
    down = jnp.pad(array[:, 1:] - array[:, :-1], [(0, 0), (0, 1), (0, 0), (0, 0)])
    right = jnp.pad(array[:, :, 1:] - array[:, :, :-1], [(0, 0), (0, 0), (0, 1), (0, 0)])
    return down, right


@op
def sobel_edges(image: Any) -> Any:
    """Sobel gradients dy and dx, along a new last dim."""
    array = as_array(image)
    padded = jnp.pad(array, [(0, 0), (1, 1), (1, 1), (0, 0)], mode="reflect")
    smooth, change = np.array([1.0, 2.0, 1.0]), np.array([-1.0, 0.0, 1.0])
    gradients = []
    for rows, columns in ((change, smooth), (smooth, change)):
        filtered = sum(rows[i] * padded[:, i : i + array.shape[1]] for i in range(3))
        gradients.append(sum(columns[i] * filtered[:, :, i : i + array.shape[2]] for i in range(3)))
    return jnp.stack(gradients, -1).astype(array.dtype)


def _blur(images: Any, kernel: Any) -> Any:
    """Convolves rows and columns with ``kernel``, without padding."""
    for axis in (-3, -2):
        length = images.shape[axis] - len(kernel) + 1
        if length < 1:
            raise ValueError(
                f"tf.image.ssim: images of {tuple(images.shape)} are smaller than the filter, {len(kernel)}."
            )
        shifted = [
            jax.lax.slice_in_dim(images, i, i + length, axis=axis % images.ndim) * kernel[i] for i in range(len(kernel))
        ]
        images = sum(shifted[1:], start=shifted[0])
    return images
