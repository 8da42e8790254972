"""Convolutions, pooling, and what moves pixels between space and channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf._op import op
from unisono.tf._operands import convert_operands, static_int, static_shape
from unisono.tf._tensors import as_array

_LETTERS = "DHW"


@op
def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: Any = None,
    dilations: Any = None,
) -> Any:
    """A convolution over one, two or three dims."""
    return _convolved(input, filters, strides or 1, padding, data_format, dilations)


@op
def conv1d(input: Any, filters: Any, stride: Any, padding: Any, data_format: Any = "NWC", dilations: Any = None) -> Any:
    """A convolution of sequences."""
    return _convolved(input, filters, stride, padding, data_format, dilations)


@op
def conv2d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: Any = "NHWC", dilations: Any = None
) -> Any:
    """A convolution of images; filters have the shape (height, width, channels in, channels out)."""
    return _convolved(input, filters, strides, padding, data_format, dilations)


@op
def conv3d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: Any = "NDHWC", dilations: Any = None
) -> Any:
    """A convolution of volumes."""
    return _convolved(input, filters, strides, padding, data_format, dilations)


@op
def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, data_format: Any = "NHWC", dilations: Any = None
) -> Any:
    """A convolution of each channel by itself; filters have the shape (height, width, channels, multiplier)."""
    array, kernel = convert_operands(input, filter)
    height, width, channels, multiplier = kernel.shape
    flat = kernel.reshape(height, width, 1, channels * multiplier)
    return _convolved(array, flat, strides, padding, data_format, dilations, groups=channels)


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
    """:func:`depthwise_conv2d`, then a convolution of single pixels."""
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
    return _transposed(input, filters, output_shape, strides, padding, data_format, dilations)


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
    """The transpose of :func:`conv2d`; filters have the shape (height, width, channels out, channels in)."""
    return _transposed(input, filters, output_shape, strides, padding, data_format, dilations)


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
    return _transposed(input, filters, output_shape, strides, padding, data_format, dilations)


@op
def max_pool(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None) -> Any:
    """The largest number of each window."""
    return _pooled(input, ksize, strides, padding, data_format, _largest)


@op
def avg_pool(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None) -> Any:
    """The mean of each window; numbers beyond the border do not count."""
    return _pooled(input, ksize, strides, padding, data_format, _mean)


@op
def max_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NWC") -> Any:
    """The largest number of each window of sequences."""
    return max_pool(input, ksize, strides, padding, data_format)


@op
def max_pool2d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NHWC") -> Any:
    """The largest number of each window of images."""
    return max_pool(input, ksize, strides, padding, data_format)


@op
def max_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NDHWC") -> Any:
    """The largest number of each window of volumes."""
    return max_pool(input, ksize, strides, padding, data_format)


@op
def avg_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NWC") -> Any:
    """The mean of each window of sequences."""
    return avg_pool(input, ksize, strides, padding, data_format)


@op
def avg_pool2d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NHWC") -> Any:
    """The mean of each window of images."""
    return avg_pool(input, ksize, strides, padding, data_format)


@op
def avg_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NDHWC") -> Any:
    """The mean of each window of volumes."""
    return avg_pool(input, ksize, strides, padding, data_format)


@op
def space_to_depth(input: Any, block_size: Any, data_format: str = "NHWC") -> Any:
    """Blocks of pixels as channels."""
    array, block = _channels_last(as_array(input), data_format), static_int(block_size)
    batch, height, width, channels = array.shape
    parts = array.reshape(batch, height // block, block, width // block, block, channels)
    moved = parts.transpose(0, 1, 3, 2, 4, 5).reshape(batch, height // block, width // block, block**2 * channels)
    return _as_given(moved, data_format)


@op
def depth_to_space(input: Any, block_size: Any, data_format: str = "NHWC") -> Any:
    """Channels as blocks of pixels."""
    array, block = _channels_last(as_array(input), data_format), static_int(block_size)
    batch, height, width, channels = array.shape
    parts = array.reshape(batch, height, width, block, block, channels // block**2)
    moved = parts.transpose(0, 1, 3, 2, 4, 5).reshape(batch, height * block, width * block, channels // block**2)
    return _as_given(moved, data_format)


def _convolved(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: Any, dilations: Any, groups: int | None = None
) -> Any:
    array, kernel = convert_operands(input, filters)
    num_dims = kernel.ndim - 2
    layout = data_format or f"N{_LETTERS[-num_dims:]}C"
    letters = "".join(letter for letter in layout if letter not in "NC")
    return jax.lax.conv_general_dilated(
        array,
        kernel,
        _per_dim(strides, num_dims, layout),
        _padding(padding, layout),
        rhs_dilation=_per_dim(dilations or 1, num_dims, layout),
        dimension_numbers=(layout, f"{letters}IO", layout),
        feature_group_count=groups or array.shape[layout.index("C")] // kernel.shape[-2],
    )


def _transposed(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any, data_format: Any, dilations: Any
) -> Any:
    """The gradient of the convolution that makes ``input`` of something in ``output_shape``, with respect to that."""
    array, kernel = convert_operands(input, filters)
    shape = _output_shape(array, kernel, static_shape(output_shape), data_format)

    def forward(result: Any) -> Any:
        return _convolved(result, kernel, strides, padding, data_format, dilations)

    (moved,) = jax.linear_transpose(forward, jax.ShapeDtypeStruct(shape, array.dtype))(array)
    return moved


def _output_shape(array: Any, kernel: Any, given: tuple[int, ...], layout: str) -> tuple[int, ...]:
    if len(given) == array.ndim:
        return given
    inner = dict(zip((letter for letter in layout if letter not in "NC"), given, strict=True))
    return tuple(
        array.shape[place] if letter == "N" else kernel.shape[-2] if letter == "C" else inner[letter]
        for place, letter in enumerate(layout)
    )


def _pooled(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any, pool: Callable[..., Any]) -> Any:
    array = as_array(input)
    layout = data_format or f"N{_LETTERS[-(array.ndim - 2) :]}C"
    window, step = (_spread(_per_dim(each, array.ndim - 2, layout), layout, 1) for each in (ksize, strides))
    padded = _padding(padding, layout)
    if not isinstance(padded, str):
        padded = _spread(padded, layout, (0, 0))
    return pool(array, window, step, padded)


def _largest(array: Any, window: Any, step: Any, padding: Any) -> Any:
    lowest = -jnp.inf if jnp.issubdtype(array.dtype, jnp.floating) else np.iinfo(array.dtype).min
    return jax.lax.reduce_window(array, np.asarray(lowest, array.dtype), jax.lax.max, window, step, padding)


def _mean(array: Any, window: Any, step: Any, padding: Any) -> Any:
    zero = np.zeros((), array.dtype)
    total = jax.lax.reduce_window(array, zero, jax.lax.add, window, step, padding)
    count = jax.lax.reduce_window(jnp.ones(array.shape, array.dtype), zero, jax.lax.add, window, step, padding)
    return total / count


def _per_dim(value: Any, num_dims: int, layout: str) -> tuple[int, ...]:
    """A number for each inner dim, of one for all, or of one for each dim of the tensor."""
    numbers = static_shape(value)
    if len(numbers) == 1:
        return numbers * num_dims
    if len(numbers) == num_dims + 2:
        return tuple(number for number, letter in zip(numbers, layout, strict=True) if letter not in "NC")
    if len(numbers) != num_dims:
        raise ValueError(f"Got {len(numbers)} numbers, {numbers}, for {num_dims} dims. Expected 1, {num_dims} or all.")
    return numbers


def _spread(numbers: Any, layout: str, other: Any) -> list[Any]:
    """A value for each dim: those of the inner dims, ``other`` for batch and channels."""
    following = iter(numbers)
    return [other if letter in "NC" else next(following) for letter in layout]


def _padding(padding: Any, layout: str) -> Any:
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ValueError(f"padding is {padding!r}. Expected 'SAME', 'VALID', or pairs of numbers for each dim.")
        return padding.upper()
    pairs = [static_shape(pair) for pair in padding]
    return [pair for pair, letter in zip(pairs, layout, strict=True) if letter not in "NC"]


def _channels_last(array: Any, data_format: str) -> Any:
    return array.transpose(0, 2, 3, 1) if data_format == "NCHW" else array


def _as_given(array: Any, data_format: str) -> Any:
    return array.transpose(0, 3, 1, 2) if data_format == "NCHW" else array
