"""Non-maximum suppression: the boxes with the best scores that do not overlap.

Inside compiled functions the number of boxes has to be known, so there only the functions with padded results work.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._op import op
from unisono.tf._operands import as_floating, static_int
from unisono.tf._tensors import as_array

UNKNOWN_COUNT = """tf.image.{name} inside a compiled function: the number of selected boxes is known only at run time.
Use tf.image.non_max_suppression_padded(boxes, scores, max_output_size, pad_to_max_output_size=True)."""
NO_BATCHES = "tf.image.non_max_suppression_padded: batches of boxes need pad_to_max_output_size=True."
WRONG_SHAPES = """tf.image.combined_non_max_suppression: the boxes have shape {boxes}, the scores {scores}. Expected
[batch, boxes, 1 or classes, 4] and [batch, boxes, classes]."""


class _Selected(NamedTuple):
    indices: Any
    scores: Any
    count: Any


class CombinedNonMaxSuppression(NamedTuple):
    """The boxes of each image with their scores and classes, padded with zeros, and how many there are."""

    nmsed_boxes: Any
    nmsed_scores: Any
    nmsed_classes: Any
    valid_detections: Any


@op
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
) -> Any:
    """Returns the indices of the boxes with the best scores that do not overlap more than ``iou_threshold``.

    Not inside compiled functions, where the number of indices would have to be known.
    """
    found = _select(_overlaps(boxes), scores, max_output_size, iou_threshold, score_threshold)
    return _cut(found, "non_max_suppression").indices


@op
def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: Any = 0.0,
) -> tuple[Any, Any]:
    """:func:`non_max_suppression` that returns the scores as well.

    With ``soft_nms_sigma`` no box is left out: its score decreases with its overlap with better boxes.
    """
    found = _select(_overlaps(boxes), scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma)
    cut = _cut(found, "non_max_suppression_with_scores")
    return cut.indices, cut.scores


@op
def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
) -> Any:
    """:func:`non_max_suppression` with a given overlap of every pair of boxes."""
    found = _select(as_floating(overlaps), scores, max_output_size, overlap_threshold, score_threshold)
    return _cut(found, "non_max_suppression_overlaps").indices


@op
def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Any, Any]:
    """The indices of :func:`non_max_suppression`, padded with zeros, and how many of them are valid.

    Also for batches of boxes, and inside compiled functions.
    """
    corners, points = as_floating(boxes), as_floating(scores)
    batch = points.shape[:-1]

    def select(corners: Any, points: Any) -> _Selected:
        return _select(_overlaps(corners), points, max_output_size, iou_threshold, score_threshold)

    if batch and not pad_to_max_output_size:
        raise ValueError(NO_BATCHES)
    if not batch and not pad_to_max_output_size:
        cut = _cut(select(corners, points), "non_max_suppression_padded")
        return cut.indices, jnp.asarray(len(cut.indices), jnp.int32)
    flat = jax.vmap(select)(corners.reshape(-1, *corners.shape[-2:]), points.reshape(-1, points.shape[-1]))
    return flat.indices.reshape(*batch, -1), flat.count.reshape(batch)


@op
def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
) -> CombinedNonMaxSuppression:
    """Non-maximum suppression in each class and image; the best boxes of all classes.

    Args:
        boxes: of shape [batch, boxes, 1 or classes, 4]: with 1 all classes have the same boxes.
        scores: of shape [batch, boxes, classes].
        max_output_size_per_class: the most boxes of a class.
        max_total_size: the most boxes of an image.
        iou_threshold: the most overlap of two boxes of a class.
        score_threshold: boxes with a score up to this one are left out.
        pad_per_class: whether the result has at most ``max_output_size_per_class`` times the number of classes.
        clip_boxes: whether coordinates are clipped to [0, 1].
    """
    corners, points = as_floating(boxes), as_floating(scores)
    if corners.ndim != 4 or points.ndim != 3 or corners.shape[2] not in (1, points.shape[2]):
        raise ValueError(WRONG_SHAPES.format(boxes=tuple(corners.shape), scores=tuple(points.shape)))
    per_class, total = static_int(max_output_size_per_class), static_int(max_total_size)
    size = min(total, per_class * points.shape[2]) if pad_per_class else total

    limits = jnp.stack([as_array(each, points.dtype) for each in (iou_threshold, score_threshold)])
    return CombinedNonMaxSuppression(*_combine_classes(corners, points, limits, per_class, size, clip_boxes))


@functools.partial(jax.jit, static_argnums=(3, 4, 5))
def _combine_classes(
    corners: Any, points: Any, limits: Any, per_class: int, size: int, clip_boxes: bool
) -> tuple[Any, Any, Any, Any]:
    num_classes = points.shape[2]

    def select_class(corners: Any, points: Any) -> Any:
        found = _select(_overlaps(corners), points, per_class, limits[0], limits[1])
        valid = jnp.arange(per_class) < found.count
        return corners[found.indices], jnp.where(valid, found.scores, -jnp.inf)

    def select_image(corners: Any, points: Any) -> Any:
        by_class = jnp.broadcast_to(jnp.swapaxes(corners, 0, 1), (num_classes, *corners.shape[::2]))
        found, best = jax.vmap(select_class)(by_class, points.T)
        classes = jnp.repeat(jnp.arange(num_classes), per_class)
        order = jnp.argsort(-best.ravel(), stable=True)[:size]
        kept = best.ravel()[order]
        valid = kept > -jnp.inf
        pad = [(0, size - len(order))]
        chosen = jnp.where(valid[:, None], found.reshape(-1, 4)[order], 0)
        if clip_boxes:
            chosen = jnp.clip(chosen, 0, 1)
        return (
            jnp.pad(chosen, [*pad, (0, 0)]),
            jnp.pad(jnp.where(valid, kept, 0), pad),
            jnp.pad(jnp.where(valid, classes[order], 0).astype(points.dtype), pad),
            jnp.sum(valid, dtype=jnp.int32),
        )

    found: tuple[Any, Any, Any, Any] = jax.vmap(select_image)(corners, points)
    return found


def _select(
    overlaps: Any, scores: Any, max_output_size: Any, threshold: Any, score_threshold: Any, sigma: Any = 0.0
) -> _Selected:
    points = as_floating(scores)
    size = static_int(max_output_size, "tf.image.non_max_suppression: max_output_size")
    least, most, width = (as_array(each, points.dtype) for each in (score_threshold, threshold, sigma))
    return _Selected(*_suppress(overlaps, points, most, least, width, size))


@functools.partial(jax.jit, static_argnums=5)
def _suppress(overlaps: Any, points: Any, most: Any, least: Any, width: Any, size: int) -> tuple[Any, Any, Any]:
    """Takes the best box, and lowers the scores of those that overlap with it, as often as the result is long."""

    def step(left: Any, _: Any) -> Any:
        index = jnp.argmax(left)
        score = left[index]
        valid = score > least
        row = overlaps[index]
        soft = left * jnp.exp(-0.5 * row * row / jnp.where(width > 0, width, 1))
        lowered = jnp.where(width > 0, soft, jnp.where(row > most, -jnp.inf, left))
        left = jnp.where(valid, lowered, left).at[index].set(-jnp.inf)
        return left, (jnp.where(valid, index, 0).astype(jnp.int32), jnp.where(valid, score, 0), valid)

    eligible = jnp.where(points > least, points, -jnp.inf)
    _, (indices, found, valid) = jax.lax.scan(step, eligible, length=size)
    return indices, found, jnp.sum(valid, dtype=jnp.int32)


def _cut(found: _Selected, name: str) -> _Selected:
    """Without the padding."""
    if isinstance(found.count, jax.core.Tracer):
        raise ValueError(UNKNOWN_COUNT.format(name=name))
    count = int(np.asarray(found.count))
    return _Selected(found.indices[:count], found.scores[:count], found.count)


def _overlaps(boxes: Any) -> Any:
    return _intersections_over_unions(as_floating(boxes))


@jax.jit
def _intersections_over_unions(corners: Any) -> Any:
    """Of every pair of boxes (y1, x1, y2, x2), whose corners may be in any order."""
    low, high = jnp.minimum(corners[:, :2], corners[:, 2:]), jnp.maximum(corners[:, :2], corners[:, 2:])
    shared = jnp.maximum(jnp.minimum(high[:, None], high[None]) - jnp.maximum(low[:, None], low[None]), 0).prod(-1)
    areas = (high - low).prod(-1)
    union = areas[:, None] + areas[None] - shared
    return jnp.where(union > 0, shared / jnp.where(union > 0, union, 1), 0)
