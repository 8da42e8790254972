"""Frames drawn into images."""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._op import op
from unisono.tf._tensors import as_array

SHAPES = """tf.image.draw_bounding_boxes: the images have shape {images}, the boxes {boxes}. Expected [batch, height,
width, depth] and [batch, number of boxes, 4]."""

# One after the other for the boxes of an image: red, green, blue, and how opaque.
_COLOURS: Final = np.array(
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
    """The images with frames, one pixel wide.

    Args:
        images: a batch of them, of floating numbers.
        boxes: for each image the upper, left, lower and right edges of frames, as fractions of height and width.
        colors: a row for each colour; the frames of an image take them in turn. If None, ten that differ, or white in
            images with one channel.
    """
    pixels, edges = as_array(images), as_array(boxes)
    if pixels.ndim != 4 or edges.ndim != 3 or edges.shape[-1] != 4 or len(edges) != len(pixels):
        raise ValueError(SHAPES.format(images=tuple(pixels.shape), boxes=tuple(edges.shape)))
    depth = pixels.shape[-1]
    if colors is None or np.size(colors) == 0:
        colors = np.ones((1, 1)) if depth == 1 else _COLOURS
    table = as_array(colors, pixels.dtype)[:, :depth]
    turns = table[jnp.arange(edges.shape[1]) % len(table)]
    return jax.vmap(lambda image, frames: _framed(image, frames, turns))(pixels, edges)


def _framed(image: Any, frames: Any, colours: Any) -> Any:
    def drawn(image: Any, frame: Any) -> Any:
        edges, colour = frame
        return jnp.where(_frame(edges, *image.shape[:2])[..., None], colour, image), None

    return jax.lax.scan(drawn, image, (frames, colours))[0]


def _frame(edges: Any, height: int, width: int) -> Any:
    """Where one frame is. Of a frame that goes beyond the image there is what lies inside."""
    top, left, bottom, right = (edges * jnp.array([height - 1, width - 1] * 2, edges.dtype)).astype("int32")
    rows, columns = jnp.arange(height)[:, None], jnp.arange(width)[None]
    inside = (rows >= top) & (rows <= bottom) & (columns >= left) & (columns <= right)
    return inside & ((rows == top) | (rows == bottom) | (columns == left) | (columns == right))
