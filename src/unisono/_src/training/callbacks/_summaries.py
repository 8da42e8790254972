"""The summaries that TensorBoard shows, with the tags and contents that TensorFlow writes.

`unisono._src.data.files` encodes them into events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import keras
import numpy as np

from unisono._src.data.files import (
    encode_png,
    make_plugin_metadata,
    make_tensor_proto,
    make_tensor_summary,
    message_class,
)

_BUCKETS: Final = 30
_MAX_IMAGES: Final = 3  # of one weight, as TensorFlow's `max_outputs`


def scalars(values: Mapping[str, Any]) -> Any:
    """One point of a curve for each name. Values that are not single numbers are left out."""
    numbers = {tag: value for tag, value in values.items() if np.ndim(value) == 0}
    return message_class("Summary")(
        value=[{"tag": tag, "simple_value": float(value)} for tag, value in numbers.items()]
    )


def histogram(tag: str, values: Any) -> Any:
    """How the numbers of an array are distributed. Those that are not finite are left out.

    >>> summary = histogram("weights", np.array([0.0, 0.5, 1.0]))
    >>> [dim.size for dim in summary.value[0].tensor.tensor_shape.dim]
    [30, 3]
    """
    numbers = np.asarray(values, np.float64).ravel()
    numbers = numbers[np.isfinite(numbers)]
    table = np.zeros((0, 3))
    if numbers.size:
        counts, edges = np.histogram(numbers, bins=_BUCKETS)
        table = np.stack([edges[:-1], edges[1:], counts], axis=1)
    return make_tensor_summary(tag, make_tensor_proto(table), make_plugin_metadata("histograms"))


def images(tag: str, pixels: Any) -> Any:
    """Images of equal size, (number, height, width, channels): black at 0 and below, white at 1 and above."""
    lights = np.clip(np.nan_to_num(np.asarray(pixels, np.float32)), 0, 1)
    shades = np.minimum(lights * 255.5, 255).astype(np.uint8)
    height, width = shades.shape[1:3]
    files = [encode_png(one) for one in shades[:_MAX_IMAGES]]
    contents = np.array([str(width).encode(), str(height).encode(), *files], object)
    return make_tensor_summary(tag, make_tensor_proto(contents), make_plugin_metadata("images"))


def keras_model(tag: str, config: str) -> Any:
    """A model's configuration, which TensorBoard draws as a graph of layers."""
    metadata = make_plugin_metadata("graph_keras_model", content=b"1")
    return make_tensor_summary(tag, make_tensor_proto(config.encode()), metadata)


def weight_images(weight: Any) -> np.ndarray[Any, Any] | None:
    """One weight as images, (number, height, width, channels), cut as Keras's callback cuts it; None for other shapes.

    A vector is one column of pixels, a matrix one image that is wider than high, three dimensions an image for each
    channel.

    >>> weight_images(np.zeros((5, 3))).shape
    (1, 3, 5, 1)
    >>> weight_images(np.zeros((3, 3, 8))).shape
    (8, 3, 3, 1)
    """
    array = np.squeeze(np.asarray(weight, np.float32))
    if array.ndim == 1:
        return array.reshape(1, -1, 1, 1)
    if array.ndim == 2:
        wide = array.T if array.shape[0] > array.shape[1] else array
        return wide[None, :, :, None]
    if array.ndim == 3:
        if keras.config.image_data_format() == "channels_last":
            array = array.transpose(2, 0, 1)
        return array[..., None]
    if array.ndim == 4 and array.shape[-1] in (1, 3, 4):
        return array
    return None
