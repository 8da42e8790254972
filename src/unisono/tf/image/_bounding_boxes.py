"""Bounding boxes: `draw_bounding_boxes` and `non_max_suppression`."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._op import op
from unisono.tf._operands import static_int, static_value
from unisono.tf._tensors import as_array

WRONG_SHAPES = """tf.image.draw_bounding_boxes: the images have shape {images}, the boxes {boxes}. Expected [batch,
height, width, depth] and [batch, number of boxes, 4]."""

UNKNOWN_COUNT = "tf.image.non_max_suppression: the number of selected boxes"

# RGBA. The boxes of an image use them cyclically.
_DEFAULT_COLORS: Final = np.array(
    [
        [1, 1, 0, 1],
        [0, 0, 1, 1],
        [1, 0, 0, 1],
        [0, 1, 0, 1],
        [0.5, 0, 0.5, 1],
        [0.5, 0.5, 0, 1],
        [0.5, 0, 0, 1],
        [0, 0, 0.5, 1],
        [0, 1, 1, 1],
        [1, 0, 1, 1],
    ]
)


@op
def draw_bounding_boxes(images: Any, boxes: Any, colors: Any = None) -> Any:
    """Draws boxes with edges one pixel wide.

    Args:
        images: a batch of floating-point images.
        boxes: for each image the boxes (y_min, x_min, y_max, x_max), as fractions of height and width.
        colors: one row per color; the boxes of an image use them cyclically. If None, ten different colors, or white
            for images with one channel.
    """
    pixels, edges = as_array(images), as_array(boxes)
    if pixels.ndim != 4 or edges.ndim != 3 or edges.shape[-1] != 4 or len(edges) != len(pixels):
        raise ValueError(WRONG_SHAPES.format(images=tuple(pixels.shape), boxes=tuple(edges.shape)))
    depth = pixels.shape[-1]
    if colors is None or np.size(colors) == 0:
        colors = np.ones((1, 1)) if depth == 1 else _DEFAULT_COLORS
    table = as_array(colors, pixels.dtype)[:, :depth]
    box_colors = table[jnp.arange(edges.shape[1]) % len(table)]
    return jax.vmap(lambda image, boxes: _draw_boxes(image, boxes, box_colors))(pixels, edges)


@op
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
) -> Any:
    """Returns the indices of the boxes with the best scores that do not overlap more than ``iou_threshold``.

    Runs on the host: not inside compiled functions, where the number of indices would have to be known.
    """
    corners, points = static_value(boxes, UNKNOWN_COUNT).astype(float), static_value(scores, UNKNOWN_COUNT)
    selected: list[int] = []
    for index in np.argsort(-points, kind="stable"):
        if len(selected) == static_int(max_output_size) or not points[index] > score_threshold:
            break
        if all(_intersection_over_union(corners[index], corners[other]) <= iou_threshold for other in selected):
            selected.append(int(index))
    return jnp.asarray(selected, jnp.int32)


def _draw_boxes(image: Any, boxes: Any, colors: Any) -> Any:
    def draw_box(image: Any, box_and_color: Any) -> Any:
        box, color = box_and_color
        return jnp.where(_edge_mask(box, *image.shape[:2])[..., None], color, image), None

    return jax.lax.scan(draw_box, image, (boxes, colors))[0]


def _edge_mask(box: Any, height: int, width: int) -> Any:
    """Returns which pixels are on the edges of a box. What is outside of the image is cut off."""
    top, left, bottom, right = (box * jnp.array([height - 1, width - 1] * 2, box.dtype)).astype("int32")
    rows, columns = jnp.arange(height)[:, None], jnp.arange(width)[None]
    inside = (rows >= top) & (rows <= bottom) & (columns >= left) & (columns <= right)
    return inside & ((rows == top) | (rows == bottom) | (columns == left) | (columns == right))


def _intersection_over_union(first: Any, second: Any) -> float:
    (top1, bottom1), (left1, right1) = sorted(first[[0, 2]]), sorted(first[[1, 3]])
    (top2, bottom2), (left2, right2) = sorted(second[[0, 2]]), sorted(second[[1, 3]])
    shared = max(0.0, min(bottom1, bottom2) - max(top1, top2)) * max(0.0, min(right1, right2) - max(left1, left2))
    union = (bottom1 - top1) * (right1 - left1) + (bottom2 - top2) * (right2 - left2) - shared
    return float(shared / union) if union > 0 else 0.0
