"""Convolutions, their transposes, pooling, `space_to_depth` and `depth_to_space`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._op import op
from unisono.tf._operands import convert_operands, static_int, static_shape
from unisono.tf._tensors import as_array

_SPATIAL = "DHW"


@op
def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: Any = None,
    dilations: Any = None,
) -> Any:
    """Convolution over one, two or three spatial dims."""
    return _convolve(input, filters, strides or 1, padding, data_format, dilations)


@op
def conv1d(input: Any, filters: Any, stride: Any, padding: Any, data_format: Any = "NWC", dilations: Any = None) -> Any:
    """Convolution over one spatial dim."""
    return _convolve(input, filters, stride, padding, data_format, dilations)


@op
def conv2d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: Any = "NHWC", dilations: Any = None
) -> Any:
    """Convolution over two spatial dims; the filters have shape `[height, width, in_channels, out_channels]`."""
    return _convolve(input, filters, strides, padding, data_format, dilations)


@op
def conv3d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: Any = "NDHWC", dilations: Any = None
) -> Any:
    """Convolution over three spatial dims."""
    return _convolve(input, filters, strides, padding, data_format, dilations)


@op
def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, data_format: Any = "NHWC", dilations: Any = None
) -> Any:
    """Convolves each channel separately; the filter has shape `[height, width, in_channels, channel_multiplier]`."""
    array, kernel = convert_operands(input, filter)
    height, width, channels, multiplier = kernel.shape
    flat = kernel.reshape(height, width, 1, channels * multiplier)
    return _convolve(array, flat, strides, padding, data_format, dilations, groups=channels)


@op
def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: Any = None,
    dilations: Any = None,
) -> Any:
    """:func:`depthwise_conv2d`, followed by a 1 x 1 convolution."""
    layout = data_format or "NHWC"
    inner = depthwise_conv2d(input, depthwise_filter, strides, padding, layout, dilations)
    return conv2d(inner, pointwise_filter, 1, "VALID", layout)


@op
def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: Any = "NWC",
    dilations: Any = None,
) -> Any:
    """The transpose of :func:`conv1d`."""
    return _convolve_transpose(input, filters, output_shape, strides, padding, data_format, dilations)


@op
def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: Any = "NHWC",
    dilations: Any = None,
) -> Any:
    """The transpose of :func:`conv2d`; the filters have shape `[height, width, out_channels, in_channels]`."""
    return _convolve_transpose(input, filters, output_shape, strides, padding, data_format, dilations)


@op
def conv3d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: Any = "NDHWC",
    dilations: Any = None,
) -> Any:
    """The transpose of :func:`conv3d`."""
    return _convolve_transpose(input, filters, output_shape, strides, padding, data_format, dilations)


@op
def max_pool(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None) -> Any:
    """The maximum of each window."""
    return _pool(input, ksize, strides, padding, data_format, _max_window)


@op
def avg_pool(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None) -> Any:
    """The mean of each window; padding does not count."""
    return _pool(input, ksize, strides, padding, data_format, _mean_window)


@op
def max_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NWC") -> Any:
    """:func:`max_pool` over one spatial dim."""
    return max_pool(input, ksize, strides, padding, data_format)


@op
def max_pool2d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NHWC") -> Any:
    """:func:`max_pool` over two spatial dims."""
    return max_pool(input, ksize, strides, padding, data_format)


@op
def max_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NDHWC") -> Any:
    """:func:`max_pool` over three spatial dims."""
    return max_pool(input, ksize, strides, padding, data_format)


@op
def avg_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NWC") -> Any:
    """:func:`avg_pool` over one spatial dim."""
    return avg_pool(input, ksize, strides, padding, data_format)


@op
def avg_pool2d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NHWC") -> Any:
    """:func:`avg_pool` over two spatial dims."""
    return avg_pool(input, ksize, strides, padding, data_format)


@op
def avg_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NDHWC") -> Any:
    """:func:`avg_pool` over three spatial dims."""
    return avg_pool(input, ksize, strides, padding, data_format)


@op
def space_to_depth(input: Any, block_size: Any, data_format: str = "NHWC") -> Any:
    """Moves blocks of pixels into the channel dim."""
    array, block = _to_channels_last(as_array(input), data_format), static_int(block_size)
    batch, height, width, channels = array.shape
    blocks = array.reshape(batch, height // block, block, width // block, block, channels)
    moved = blocks.transpose(0, 1, 3, 2, 4, 5).reshape(batch, height // block, width // block, block**2 * channels)
    return _from_channels_last(moved, data_format)


@op
def depth_to_space(input: Any, block_size: Any, data_format: str = "NHWC") -> Any:
    """Moves channels into blocks of pixels."""
    array, block = _to_channels_last(as_array(input), data_format), static_int(block_size)
    batch, height, width, channels = array.shape
    blocks = array.reshape(batch, height, width, block, block, channels // block**2)
    moved = blocks.transpose(0, 1, 3, 2, 4, 5).reshape(batch, height * block, width * block, channels // block**2)
    return _from_channels_last(moved, data_format)


def _convolve(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: Any, dilations: Any, groups: int | None = None
) -> Any:
    array, kernel = convert_operands(input, filters)
    num_dims = kernel.ndim - 2
    layout = data_format or f"N{_SPATIAL[-num_dims:]}C"
    letters = "".join(letter for letter in layout if letter not in "NC")
    return jax.lax.conv_general_dilated(
        array,
        kernel,
        _per_spatial_dim(strides, num_dims, layout),
        _parse_padding(padding, layout),
        rhs_dilation=_per_spatial_dim(dilations or 1, num_dims, layout),
        dimension_numbers=(layout, f"{letters}IO", layout),
        feature_group_count=groups or array.shape[layout.index("C")] // kernel.shape[-2],
    )


def _convolve_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any, data_format: Any, dilations: Any
) -> Any:
    """Transposes the convolution that maps an array of ``output_shape`` to the shape of ``input``."""
    array, kernel = convert_operands(input, filters)
    shape = _output_shape(array, kernel, static_shape(output_shape), data_format)

    def forward(result: Any) -> Any:
        return _convolve(result, kernel, strides, padding, data_format, dilations)

    (moved,) = jax.linear_transpose(forward, jax.ShapeDtypeStruct(shape, array.dtype))(array)
    return moved


def _output_shape(array: Any, kernel: Any, output_shape: tuple[int, ...], layout: str) -> tuple[int, ...]:
    if len(output_shape) == array.ndim:
        return output_shape
    spatial = dict(zip((letter for letter in layout if letter not in "NC"), output_shape, strict=True))
    return tuple(
        array.shape[index] if letter == "N" else kernel.shape[-2] if letter == "C" else spatial[letter]
        for index, letter in enumerate(layout)
    )


def _pool(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any, pool: Callable[..., Any]) -> Any:
    array = as_array(input)
    layout = data_format or f"N{_SPATIAL[-(array.ndim - 2) :]}C"
    window, step = (
        _per_array_dim(_per_spatial_dim(each, array.ndim - 2, layout), layout, 1) for each in (ksize, strides)
    )
    padded = _parse_padding(padding, layout)
    if not isinstance(padded, str):
        padded = _per_array_dim(padded, layout, (0, 0))
    return pool(array, window, step, padded)


def _max_window(array: Any, window: Any, step: Any, padding: Any) -> Any:
    lowest = -jnp.inf if jnp.issubdtype(array.dtype, jnp.floating) else np.iinfo(array.dtype).min
    return jax.lax.reduce_window(array, np.asarray(lowest, array.dtype), jax.lax.max, window, step, padding)


def _mean_window(array: Any, window: Any, step: Any, padding: Any) -> Any:
    zero = np.zeros((), array.dtype)
    total = jax.lax.reduce_window(array, zero, jax.lax.add, window, step, padding)
    count = jax.lax.reduce_window(jnp.ones(array.shape, array.dtype), zero, jax.lax.add, window, step, padding)
    return total / count


def _per_spatial_dim(value: Any, num_dims: int, layout: str) -> tuple[int, ...]:
    """Returns a number for each spatial dim. ``value`` has one for all, one for each, or one for each array dim."""
    numbers = static_shape(value)
    if len(numbers) == 1:
        return numbers * num_dims
    if len(numbers) == num_dims + 2:
        return tuple(number for number, letter in zip(numbers, layout, strict=True) if letter not in "NC")
    if len(numbers) != num_dims:
        raise ValueError(
            f"Got {numbers} for {num_dims} spatial dims. Expected 1, {num_dims} or {num_dims + 2} numbers."
        )
    return numbers


def _per_array_dim(numbers: Any, layout: str, other: Any) -> list[Any]:
    """Returns a value for each array dim: ``numbers`` for the spatial dims, ``other`` for batch and channels."""
    remaining = iter(numbers)
    return [other if letter in "NC" else next(remaining) for letter in layout]


def _parse_padding(padding: Any, layout: str) -> Any:
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ValueError(f"padding is {padding!r}. Expected 'SAME', 'VALID', or a pair of numbers for each dim.")
        return padding.upper()
    pairs = [static_shape(pair) for pair in padding]
    return [pair for pair, letter in zip(pairs, layout, strict=True) if letter not in "NC"]


def _to_channels_last(array: Any, data_format: str) -> Any:
    return array.transpose(0, 2, 3, 1) if data_format == "NCHW" else array


def _from_channels_last(array: Any, data_format: str) -> Any:
    return array.transpose(0, 3, 1, 2) if data_format == "NCHW" else array
