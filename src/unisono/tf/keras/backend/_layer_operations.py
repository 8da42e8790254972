"""Convolutions, pooling, padding, resizing, normalization and CTC."""

from __future__ import annotations

from typing import Any

import jax
import keras
import numpy as np
from keras import ops

from unisono.tf import nn


def conv1d(
    x: Any, kernel: Any, strides: int = 1, padding: str = "valid", data_format: Any = None, dilation_rate: int = 1
) -> Any:
    """A convolution over one dim; ``padding`` may be "causal"."""
    if padding == "causal":
        width = dilation_rate * (kernel.shape[0] - 1)
        x, padding = temporal_padding(x, (width, 0)), "valid"
    return ops.conv(x, kernel, strides, padding, data_format or _data_format(), dilation_rate)


def conv2d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: Any = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A convolution over two dims."""
    return ops.conv(x, kernel, strides, padding, data_format or _data_format(), dilation_rate)


def conv3d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: Any = None,
    dilation_rate: Any = (1, 1, 1),
) -> Any:
    """A convolution over three dims."""
    return ops.conv(x, kernel, strides, padding, data_format or _data_format(), dilation_rate)


def conv2d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: Any = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A transposed convolution over two dims."""
    layout = "NHWC" if (data_format or _data_format()) == "channels_last" else "NCHW"
    return nn.conv2d_transpose(x, kernel, output_shape, strides, padding.upper(), layout, dilation_rate)


def depthwise_conv2d(
    x: Any,
    depthwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: Any = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A convolution of each channel."""
    return ops.depthwise_conv(x, depthwise_kernel, strides, padding, data_format or _data_format(), dilation_rate)


def separable_conv2d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: Any = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A convolution of each channel, and one over the channels."""
    layout = data_format or _data_format()
    return ops.separable_conv(x, depthwise_kernel, pointwise_kernel, strides, padding, layout, dilation_rate)


def pool2d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: Any = None,
    pool_mode: str = "max",
) -> Any:
    """The maximum (``pool_mode`` "max") or the mean ("avg") of each window of two dims."""
    pool = {"max": ops.max_pool, "avg": ops.average_pool}[pool_mode]
    return pool(x, tuple(pool_size), tuple(strides), padding, data_format or _data_format())


def pool3d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: Any = None,
    pool_mode: str = "max",
) -> Any:
    """The maximum or the mean of each window of three dims."""
    return pool2d(x, pool_size, strides, padding, data_format, pool_mode)


def temporal_padding(x: Any, padding: Any = (1, 1)) -> Any:
    """Zeros before and after the second dim."""
    return ops.pad(x, ((0, 0), tuple(padding), (0, 0)))


def spatial_2d_padding(x: Any, padding: Any = ((1, 1), (1, 1)), data_format: Any = None) -> Any:
    """Zeros around two dims."""
    return _pad(x, padding, data_format)


def spatial_3d_padding(x: Any, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: Any = None) -> Any:
    """Zeros around three dims."""
    return _pad(x, padding, data_format)


def resize_images(
    x: Any, height_factor: int, width_factor: int, data_format: Any, interpolation: str = "nearest"
) -> Any:
    """Enlarges images by whole factors."""
    first = 1 if data_format == "channels_last" else 2
    if interpolation == "nearest":
        return ops.repeat(ops.repeat(x, height_factor, axis=first), width_factor, axis=first + 1)
    size = (x.shape[first] * height_factor, x.shape[first + 1] * width_factor)
    return ops.image.resize(x, size, interpolation, data_format=data_format)


def resize_volumes(x: Any, depth_factor: int, height_factor: int, width_factor: int, data_format: Any) -> Any:
    """Enlarges volumes by whole factors, by repeating values."""
    first = 1 if data_format == "channels_last" else 2
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), first):
        x = ops.repeat(x, factor, axis=axis)
    return x


def bias_add(x: Any, bias: Any, data_format: Any = None) -> Any:
    """Adds a bias to the channels."""
    if (data_format or _data_format()) == "channels_last" or len(x.shape) < 3:
        return ops.add(x, bias)
    return ops.add(x, ops.reshape(bias, (1, -1, *[1] * (len(x.shape) - 2))))


def batch_normalization(
    x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1, epsilon: float = 1e-3
) -> Any:
    """Normalizes with a given mean and variance."""
    return nn.batch_normalization(x, mean, var, beta, gamma, epsilon)


def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Any:
    """The CTC loss of each row, of shape (rows, 1). The blank label is the last class.

    Args:
        y_true: labels, of shape (rows, labels).
        y_pred: probabilities, of shape (rows, steps, classes).
        input_length: the number of steps of each row, of shape (rows, 1).
        label_length: the number of labels of each row, of shape (rows, 1).
    """
    scores = ops.log(ops.convert_to_tensor(y_pred) + keras.config.epsilon())
    labels, steps = _lengths(label_length), _lengths(input_length)
    blank = y_pred.shape[-1] - 1
    return ops.expand_dims(ops.ctc_loss(ops.cast(y_true, "int32"), scores, labels, steps, mask_index=blank), 1)


def ctc_decode(
    y_pred: Any, input_length: Any, greedy: bool = True, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[Any], Any]:
    """The likeliest labels of each row, padded with -1, for each of the best paths; and their scores.

    Outside compiled functions the labels are as wide as the longest row, else as wide as ``y_pred`` has steps.
    """
    scores = ops.log(ops.convert_to_tensor(y_pred) + keras.config.epsilon())
    strategy = "greedy" if greedy else "beam_search"
    found, points = ops.ctc_decode(
        scores, _lengths(input_length), strategy, beam_width, top_paths, mask_index=y_pred.shape[-1] - 1
    )
    return [_without_padding(path) for path in found], points


def _lengths(value: Any) -> Any:
    return ops.reshape(ops.cast(value, "int32"), (-1,))


def _without_padding(path: Any) -> Any:
    if isinstance(path, jax.core.Tracer):
        return path
    used = np.flatnonzero((np.asarray(path) >= 0).any(axis=0))
    return path[:, : int(used[-1]) + 1 if used.size else 0]


def _pad(x: Any, padding: Any, data_format: Any) -> Any:
    pairs = [(0, 0), *(tuple(pair) for pair in padding), (0, 0)]
    if (data_format or _data_format()) == "channels_first":
        pairs = [(0, 0), (0, 0), *pairs[1:-1]]
    return ops.pad(x, pairs)


def _data_format() -> str:
    found: str = keras.config.image_data_format()
    return found
