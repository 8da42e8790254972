"""`tf.image.draw_bounding_boxes`."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._op import op
from unisono.tf._tensors import as_array

WRONG_SHAPES = """tf.image.draw_bounding_boxes: the images have shape {images}, the boxes {boxes}. Expected [batch,
height, width, depth] and [batch, number of boxes, 4]."""

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


def _draw_boxes(image: Any, boxes: Any, colors: Any) -> Any:
    def draw_box(image: Any, box_and_color: Any) -> Any:
        box, color = box_and_color
        return jnp.where(_edge_mask(box, *image.shape[:2])[..., None], color, image), None

    return jax.lax.scan(draw_box, image, (boxes, colors))[0]


def _edge_mask(box: Any, height: int, width: int) -> Any:
    """Returns which pixels are on the edges of a box. What is outside the image is cut off."""
    top, left, bottom, right = (box * jnp.array([height - 1, width - 1] * 2, box.dtype)).astype("int32")
    rows, columns = jnp.arange(height)[:, None], jnp.arange(width)[None]
    inside = (rows >= top) & (rows <= bottom) & (columns >= left) & (columns <= right)
    return inside & ((rows == top) | (rows == bottom) | (columns == left) | (columns == right))
