"""`tf.image.sample_distorted_bounding_box`: a random crop that shows enough of a box."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._op import op_without_folding
from unisono.tf._operands import as_floating, static_int
from unisono.tf._tensors import as_array
from unisono.tf.random._seed_generators import key_from_pair, next_key

NO_BOXES = """tf.image.sample_distorted_bounding_box: there are no bounding boxes. Pass some, or
use_image_if_no_bounding_boxes=True."""
WRONG_RANGE = (
    "tf.image.sample_distorted_bounding_box: {name} is {value}. Expected two increasing numbers above 0{more}."
)


class SampleDistortedBoundingBox(NamedTuple):
    """Where the crop begins and how large it is, for `tf.slice`; and the crop as a box, for `draw_bounding_boxes`."""

    begin: Any
    size: Any
    bboxes: Any


@op_without_folding
def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: bool | None = None,
) -> SampleDistortedBoundingBox:
    """A random crop of an image.

    Args:
        image_size: height, width and channels.
        bounding_boxes: boxes (y_min, x_min, y_max, x_max) as fractions of the image, of shape [1, boxes, 4].
        seed: a seed; 0 for a different crop at each call.
        min_object_covered: the part of a box that has to be in the crop; of any of the boxes.
        aspect_ratio_range: the least and the largest width over height; 0.75 and 1.33 if None.
        area_range: the least and the largest part of the image; 0.05 and 1 if None.
        max_attempts: how many crops are tried before the whole image is taken; 100 if None.
        use_image_if_no_bounding_boxes: whether the whole image counts as a box if there is none.
    """
    key = next_key(seed or None)
    return _sample(
        key,
        image_size,
        bounding_boxes,
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
    )


@op_without_folding
def stateless_sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: bool | None = None,
) -> SampleDistortedBoundingBox:
    """:func:`sample_distorted_bounding_box` with a seed of two integers."""
    return _sample(
        key_from_pair(seed),
        image_size,
        bounding_boxes,
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
    )


def _sample(
    key: Any, image_size: Any, boxes: Any, covered: Any, ratios: Any, areas: Any, attempts: Any, whole_image: Any
) -> SampleDistortedBoundingBox:
    corners = as_floating(boxes).reshape(-1, 4)
    if not len(corners):
        if not whole_image:
            raise ValueError(NO_BOXES)
        corners = jnp.array([[0.0, 0.0, 1.0, 1.0]])
    shape = as_array(image_size).astype(jnp.float32)
    height, width = shape[0], shape[1]
    low_ratio, high_ratio = _check_range("aspect_ratio_range", (0.75, 1.33) if ratios is None else ratios, None)
    low_area, high_area = _check_range("area_range", (0.05, 1.0) if areas is None else areas, 1)
    count = 100 if attempts is None else static_int(attempts)
    ranges = jnp.array([[low_ratio, high_ratio], [low_area, high_area]], jnp.float32)
    return SampleDistortedBoundingBox(*_choose_crop(key, height, width, corners, jnp.float32(covered), ranges, count))


@functools.partial(jax.jit, static_argnums=6)
def _choose_crop(
    key: Any, height: Any, width: Any, corners: Any, covered: Any, ranges: Any, count: int
) -> tuple[Any, Any, Any]:
    """The first of ``count`` random crops that shows enough of a box, or the whole image."""
    ratio, area, y, x = jax.random.uniform(key, (4, count))
    ratio = ranges[0, 0] + ratio * (ranges[0, 1] - ranges[0, 0])
    area = (ranges[1, 0] + area * (ranges[1, 1] - ranges[1, 0])) * height * width
    tall, wide = jnp.round(jnp.sqrt(area / ratio)), jnp.round(jnp.sqrt(area * ratio))
    top, left = jnp.floor(y * (height - tall + 1)), jnp.floor(x * (width - wide + 1))
    crops = jnp.stack([top / height, left / width, (top + tall) / height, (left + wide) / width], -1)
    fits = (tall >= 1) & (wide >= 1) & (tall <= height) & (wide <= width)
    valid = fits & (_covered(crops, corners) >= covered).any(-1)
    first = jnp.argmax(valid)
    found = valid[first]
    begin = jnp.where(found, jnp.stack([top[first], left[first], 0.0]), 0)
    size = jnp.where(found, jnp.stack([tall[first], wide[first], -1.0]), jnp.stack([height, width, -1.0]))
    crop = jnp.where(found, crops[first], jnp.array([0.0, 0.0, 1.0, 1.0]))
    return begin.astype(jnp.int32), size.astype(jnp.int32), crop.reshape(1, 1, 4)


def _covered(crops: Any, boxes: Any) -> Any:
    """Which part of each box is in each crop."""
    low = jnp.maximum(crops[:, None, :2], boxes[None, :, :2])
    high = jnp.minimum(crops[:, None, 2:], boxes[None, :, 2:])
    areas = jnp.maximum(boxes[:, 2:] - boxes[:, :2], 0).prod(-1)
    return jnp.maximum(high - low, 0).prod(-1) / jnp.where(areas > 0, areas, 1)


def _check_range(name: str, value: Any, most: float | None) -> tuple[float, float]:
    low, high = (float(each) for each in np.asarray(value).tolist())
    if not 0 < low <= high or (most is not None and high > most):
        more = "" if most is None else f" and at most {most}"
        raise ValueError(WRONG_RANGE.format(name=name, value=(low, high), more=more))
    return low, high
