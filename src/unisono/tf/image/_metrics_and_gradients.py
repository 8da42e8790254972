"""How images differ, and boxes in them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._op import op
from unisono.tf._operands import static_int, static_value
from unisono.tf._tensors import as_array
from unisono.tf.image._pixel_values import convert_image_dtype

HOW_MANY = "tf.image.non_max_suppression: how many boxes are left depends on the boxes and scores, which"


@op
def psnr(a: Any, b: Any, max_val: Any) -> Any:
    """The ratio of signal and noise between two images, in decibels."""
    high = convert_image_dtype(as_array(max_val, as_array(a).dtype), "float32")
    difference = convert_image_dtype(a, "float32") - convert_image_dtype(b, "float32")
    error = jnp.mean(jnp.square(difference), (-3, -2, -1))
    return 20 * jnp.log10(high) - 10 * jnp.log10(error)


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
    """How alike two images look, 1 at most."""
    high = convert_image_dtype(as_array(max_val, as_array(img1).dtype), "float32")
    first, second = convert_image_dtype(img1, "float32"), convert_image_dtype(img2, "float32")
    offsets = np.square(np.arange(filter_size) - (filter_size - 1) / 2) / (-2 * filter_sigma**2)
    kernel = np.exp(offsets) / np.exp(offsets).sum()
    c1, c2 = (k1 * high) ** 2, (k2 * high) ** 2
    mean1, mean2 = _blurred(first, kernel), _blurred(second, kernel)
    both, squares = mean1 * mean2, jnp.square(mean1) + jnp.square(mean2)
    luminance = (2 * both + c1) / (squares + c1)
    together = _blurred(first * second, kernel) * 2 - both * 2
    apart = _blurred(jnp.square(first) + jnp.square(second), kernel) - squares
    index = luminance * (together + c2) / (apart + c2)
    return index if return_index_map else jnp.mean(jnp.mean(index, (-3, -2)), -1)


@op
def total_variation(images: Any) -> Any:
    """The sum of the differences between neighbouring pixels, of each image."""
    array = as_array(images)
    down = jnp.abs(array[..., 1:, :, :] - array[..., :-1, :, :])
    right = jnp.abs(array[..., :, 1:, :] - array[..., :, :-1, :])
    return jnp.sum(down, (-3, -2, -1)) + jnp.sum(right, (-3, -2, -1))


@op
def image_gradients(image: Any) -> Any:
    """The differences to the next row and to the next column; 0 in the last ones."""
    array = as_array(image)
    down = jnp.pad(array[:, 1:] - array[:, :-1], [(0, 0), (0, 1), (0, 0), (0, 0)])
    right = jnp.pad(array[:, :, 1:] - array[:, :, :-1], [(0, 0), (0, 0), (0, 1), (0, 0)])
    return down, right


@op
def sobel_edges(image: Any) -> Any:
    """Sobel's differences down and to the right, along a new last dim."""
    array = as_array(image)
    padded = jnp.pad(array, [(0, 0), (1, 1), (1, 1), (0, 0)], mode="reflect")
    smooth, change = np.array([1.0, 2.0, 1.0]), np.array([-1.0, 0.0, 1.0])
    results = []
    for rows, columns in ((change, smooth), (smooth, change)):
        turned = sum(rows[i] * padded[:, i : i + array.shape[1]] for i in range(3))
        results.append(sum(columns[i] * turned[:, :, i : i + array.shape[2]] for i in range(3)))
    return jnp.stack(results, -1).astype(array.dtype)


@op
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
) -> Any:
    """The numbers of the best boxes that do not overlap much. On the host."""
    corners, points = static_value(boxes, HOW_MANY).astype(float), static_value(scores, HOW_MANY)
    kept: list[int] = []
    for place in np.argsort(-points, kind="stable"):
        if len(kept) == static_int(max_output_size) or not points[place] > score_threshold:
            break
        if all(_overlap(corners[place], corners[other]) <= iou_threshold for other in kept):
            kept.append(int(place))
    return jnp.asarray(kept, jnp.int32)


def _blurred(images: Any, kernel: Any) -> Any:
    """Smoothed along rows and columns, without the border."""
    for axis in (-3, -2):
        length = images.shape[axis] - len(kernel) + 1
        if length < 1:
            raise ValueError(
                f"tf.image.ssim: images of {tuple(images.shape)} are smaller than the filter, {len(kernel)}."
            )
        parts = [
            jax.lax.slice_in_dim(images, i, i + length, axis=axis % images.ndim) * kernel[i] for i in range(len(kernel))
        ]
        images = sum(parts[1:], start=parts[0])
    return images


def _overlap(first: Any, second: Any) -> float:
    """The area that two boxes share, in parts of what they cover together."""
    (top1, bottom1), (left1, right1) = sorted(first[[0, 2]]), sorted(first[[1, 3]])
    (top2, bottom2), (left2, right2) = sorted(second[[0, 2]]), sorted(second[[1, 3]])
    shared = max(0.0, min(bottom1, bottom2) - max(top1, top2)) * max(0.0, min(right1, right2) - max(left1, left2))
    covered = (bottom1 - top1) * (right1 - left1) + (bottom2 - top2) * (right2 - left2) - shared
    return float(shared / covered) if covered > 0 else 0.0
