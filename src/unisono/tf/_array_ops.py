"""Shapes, dtypes and layout of tensors: `tf.shape`, `tf.cast`, `tf.reshape`, `tf.concat`, `tf.transpose`, `tf.pad`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

from unisono._src import jax_hooks
from unisono.tf._dtypes import as_dtype, string, to_jax_dtype
from unisono.tf._op import op, op_without_folding
from unisono.tf._operands import (
    array_module,
    as_text_or_array,
    convert_together,
    jax_dtype_or,
    static_axes,
    static_int,
    static_shape,
    static_value,
    wrap_host_result,
)
from unisono.tf._shape import TensorShape
from unisono.tf._tensors import as_array, to_host_tensor


@op
def shape(input: Any, out_type: Any = "int32") -> Any:
    """The shape as an integer tensor. Inside compiled functions its values are known and can be used as a shape.

    >>> shape([[1, 2, 3]]).tolist()
    [1, 3]
    """
    dims = tuple(as_text_or_array(input).shape)
    if any(map(export.is_symbolic_dim, dims)):  # a model under construction has symbolic sizes
        return tuple(dim if export.is_symbolic_dim(dim) else np.int32(dim) for dim in dims)
    return _shape_tensor(np.array(dims, jax_dtype_or(out_type, "int32")))


@op
def shape_n(input: Any, out_type: Any = "int32") -> Any:
    """The shape of each tensor of a list."""
    return [shape(each, out_type) for each in input]


@op
def size(input: Any, out_type: Any = "int32") -> Any:
    """The number of elements."""
    found = as_text_or_array(input).size
    return found if export.is_symbolic_dim(found) else _shape_tensor(np.array(found, jax_dtype_or(out_type, "int32")))


@op
def rank(input: Any) -> Any:
    """The number of dims."""
    return _shape_tensor(np.array(as_text_or_array(input).ndim, np.int32))


@op
def cast(x: Any, dtype: Any) -> Any:
    """Converts to another dtype; fractions are truncated.

    >>> cast([1.7, -1.7], "int32").tolist()
    [1, -1]
    """
    if as_dtype(dtype) is string:
        raise TypeError("tf.cast does not convert numbers to text. Use tf.strings.as_string(x).")
    array = as_array(x)
    wanted = to_jax_dtype(dtype)
    if array.dtype.kind == "c" and wanted.kind != "c":
        array = array.real
    return array.astype(wanted)


@op
def saturate_cast(value: Any, dtype: Any) -> Any:
    """:func:`cast` with numbers clipped to the range of the dtype."""
    array, wanted = as_array(value), as_dtype(dtype)
    if wanted.is_integer or wanted.is_floating:
        array = jnp.clip(array, *_clip_bounds(array.dtype, wanted))
    return array.astype(to_jax_dtype(dtype))


@op
def bitcast(input: Any, type: Any) -> Any:
    """Reinterprets the bits as another dtype."""
    return jax.lax.bitcast_convert_type(as_array(input), to_jax_dtype(type))


@op
def identity(input: Any) -> Any:
    """The tensor itself; for a variable its current value."""
    return wrap_host_result(as_text_or_array(input))


@op
def stop_gradient(input: Any) -> Any:
    """The same values, without a gradient."""
    return jax.lax.stop_gradient(as_array(input))


@op
def ensure_shape(x: Any, shape: Any) -> Any:
    """The tensor, if it has this shape; None matches any size."""
    array = as_text_or_array(x)
    if not TensorShape(shape).is_compatible_with(array.shape):
        raise ValueError(f"tf.ensure_shape: the shape is {tuple(array.shape)}, expected {tuple(shape)}.")
    return wrap_host_result(array)


@op
def reshape(tensor: Any, shape: Any) -> Any:
    """The same elements in another shape; one size may be -1, which is inferred.

    >>> reshape([1, 2, 3, 4], [2, -1]).tolist()
    [[1, 2], [3, 4]]
    """
    return wrap_host_result(as_text_or_array(tensor).reshape(static_shape(shape)))


@op
def expand_dims(input: Any, axis: Any = 0) -> Any:
    """Inserts a dim of size 1 at ``axis``."""
    array = as_text_or_array(input)
    return wrap_host_result(array_module(array).expand_dims(array, static_int(axis)))


@op
def squeeze(input: Any, axis: Any = None) -> Any:
    """Removes dims of size 1: those in ``axis``, or all."""
    array = as_text_or_array(input)
    return wrap_host_result(array_module(array).squeeze(array, static_axes(axis) if axis != [] else None))


@op
def transpose(a: Any, perm: Any = None, conjugate: bool = False) -> Any:
    """Permutes the dims; reverses them if ``perm`` is None."""
    array = as_text_or_array(a)
    moved = array.transpose(None if perm is None else static_shape(perm))
    return wrap_host_result(jnp.conj(moved) if conjugate else moved)


@op
def concat(values: Any, axis: Any) -> Any:
    """Concatenates tensors along ``axis``.

    >>> concat([[[1, 2]], [[3, 4]]], axis=0).tolist()
    [[1, 2], [3, 4]]
    """
    if not isinstance(values, list | tuple):
        return wrap_host_result(as_text_or_array(values))
    xp, arrays = convert_together(values)
    return wrap_host_result(xp.concatenate(arrays, static_int(axis)))


@op
def stack(values: Any, axis: Any = 0) -> Any:
    """Stacks tensors of one shape along a new dim."""
    xp, arrays = convert_together(list(values))
    return wrap_host_result(xp.stack(arrays, static_int(axis)))


@op
def parallel_stack(values: Any) -> Any:
    """Stacks tensors of one shape along a new first dim."""
    return stack(values)


@op
def unstack(value: Any, num: Any = None, axis: Any = 0) -> Any:
    """The slices along ``axis``, as a list."""
    array = as_text_or_array(value)
    axis = static_int(axis)
    if num is not None and static_int(num) != array.shape[axis]:
        raise ValueError(f"tf.unstack: num is {num}. Expected {array.shape[axis]}, the size of dim {axis}.")
    moved = array_module(array).moveaxis(array, axis, 0)
    return [wrap_host_result(np.asarray(each, object)) if array.dtype == object else each for each in moved]


@op
def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None) -> Any:
    """Splits into equal parts along ``axis``, or into parts of these sizes; returns a list."""
    array = as_text_or_array(value)
    axis = static_int(axis)
    length = array.shape[axis]
    wanted = static_value(num_or_size_splits, "tf.split: the number or the sizes of the parts")
    if wanted.ndim == 0:
        if length % int(wanted):
            raise ValueError(f"tf.split: a dim of size {length} cannot be split into {int(wanted)} equal parts.")
        parts = [length // int(wanted)] * int(wanted)
    else:
        parts = [int(part) for part in wanted]
        if parts.count(-1) == 1:
            parts[parts.index(-1)] = length - (sum(parts) + 1)
        if sum(parts) != length or min(parts, default=0) < 0:
            raise ValueError(f"tf.split: parts of sizes {parts} do not add up to {length}, the size of dim {axis}.")
    return [wrap_host_result(part) for part in array_module(array).split(array, np.cumsum(parts)[:-1], axis)]


@op
def tile(input: Any, multiples: Any) -> Any:
    """Repeats the whole tensor along each dim."""
    array = as_text_or_array(input)
    return wrap_host_result(array_module(array).tile(array, static_shape(multiples)))


@op
def repeat(input: Any, repeats: Any, axis: Any = None) -> Any:
    """Repeats every slice along ``axis``; without ``axis``, every element of the flat tensor."""
    array = as_text_or_array(input)
    times = static_value(repeats, "tf.repeat: the number of repeats")
    flat = array.reshape(-1) if axis is None else array
    axis = 0 if axis is None else static_int(axis)
    indices = np.repeat(np.arange(flat.shape[axis]), times)
    return wrap_host_result(array_module(array).take(flat, indices, axis))


@op_without_folding
def broadcast_to(input: Any, shape: Any) -> Any:
    """Broadcasts the tensor to a shape."""
    array = as_text_or_array(input)
    return wrap_host_result(array_module(array).broadcast_to(array, static_shape(shape)))


@op
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> Any:
    """The shape that two shapes broadcast to."""
    return TensorShape(np.broadcast_shapes(tuple(shape_x), tuple(shape_y)))


@op
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """The shape that two shapes broadcast to, as a tensor."""
    return _shape_tensor(np.array(np.broadcast_shapes(static_shape(shape_x), static_shape(shape_y)), np.int32))


@op
def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0) -> Any:
    """Pads each dim before and after: with a constant, or with mirrored elements."""
    array = as_array(tensor)
    width = [(int(before), int(after)) for before, after in static_value(paddings, "tf.pad: the paddings")]
    kind = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}.get(mode.upper())
    if kind is None:
        raise ValueError(f"tf.pad: mode is {mode!r}. Expected 'CONSTANT', 'REFLECT' or 'SYMMETRIC'.")
    if kind == "constant":
        return jnp.pad(array, width, kind, constant_values=as_array(constant_values, array.dtype))
    return jnp.pad(array, width, kind)


@op
def reverse(tensor: Any, axis: Any) -> Any:
    """Reverses the order along these dims."""
    array = as_text_or_array(tensor)
    return wrap_host_result(array_module(array).flip(array, static_axes(axis)))


@op
def reverse_sequence(input: Any, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None) -> Any:
    """Reverses the first ``seq_lengths`` elements of each row."""
    array, lengths = as_array(input), as_array(seq_lengths)
    batch, seq = static_int(batch_axis or 0), static_int(1 if seq_axis is None else seq_axis)
    moved = jnp.moveaxis(array, (batch, seq), (0, 1))
    indices = jnp.arange(moved.shape[1])[None]
    indices = jnp.where(indices < lengths[:, None], lengths[:, None] - 1 - indices, indices)
    reversed_rows = jnp.take_along_axis(moved, indices.reshape(*indices.shape, *[1] * (moved.ndim - 2)), 1)
    return jnp.moveaxis(reversed_rows, (0, 1), (batch, seq))


@op
def roll(input: Any, shift: Any, axis: Any) -> Any:
    """Shifts along dims; elements past the end wrap around."""
    return jnp.roll(as_array(input), as_array(shift), static_axes(axis))


@op
def meshgrid(*args: Any, indexing: str = "xy") -> Any:
    """The coordinate matrices of a grid, as a list."""
    return list(jnp.meshgrid(*map(as_array, args), indexing=indexing))


@op
def space_to_batch_nd(input: Any, block_shape: Any, paddings: Any) -> Any:
    """Moves blocks of the inner dims into the batch dim."""
    array, block = as_array(input), static_shape(block_shape)
    width = [(int(a), int(b)) for a, b in static_value(paddings, "tf.space_to_batch_nd: the paddings")]
    inner = len(block)
    array = jnp.pad(array, [(0, 0), *width, *[(0, 0)] * (array.ndim - 1 - inner)])
    crop_sizes = [part for dim, b in zip(array.shape[1:], block, strict=False) for part in (dim // b, b)]
    parts = array.reshape(array.shape[0], *crop_sizes, *array.shape[1 + inner :])
    order = [*range(2, 2 * inner + 1, 2), 0, *range(1, 2 * inner + 1, 2), *range(2 * inner + 1, parts.ndim)]
    moved = parts.transpose(order)
    return moved.reshape(-1, *moved.shape[inner + 1 :])


@op
def space_to_batch(input: Any, block_shape: Any, paddings: Any) -> Any:
    """Moves blocks of the inner dims into the batch dim."""
    return space_to_batch_nd(input, block_shape, paddings)


@op
def batch_to_space(input: Any, block_shape: Any, crops: Any) -> Any:
    """The inverse of :func:`space_to_batch`; ``crops`` are removed before and after, along each inner dim."""
    array, block = as_array(input), static_shape(block_shape)
    inner = len(block)
    batch = array.shape[0] // int(np.prod(block))
    parts = array.reshape(*block, batch, *array.shape[1:])
    order = [inner, *(axis for dim in range(inner) for axis in (inner + 1 + dim, dim))]
    moved = parts.transpose([*order, *range(2 * inner + 1, parts.ndim)])
    full = [dim * size for dim, size in zip(array.shape[1:], block, strict=False)]
    merged = moved.reshape(batch, *full, *array.shape[1 + inner :])
    crop_sizes = static_value(crops, "tf.batch_to_space: the crops")
    return merged[(slice(None), *(slice(int(a), size - int(b)) for (a, b), size in zip(crop_sizes, full, strict=True)))]


@op
def identity_n(input: Any) -> Any:
    """The tensors of a list; for variables their current values."""
    return [identity(each) for each in input]


def _shape_tensor(numbers: np.ndarray[Any, Any]) -> Any:
    """Converts shape data to a tensor. In a traced function it stays on the host, so that its values are known."""
    return jnp.asarray(numbers) if jax_hooks.is_evaluating() else to_host_tensor(numbers)


def _clip_bounds(given: Any, wanted: Any) -> tuple[Any, Any]:
    """The range of the wanted dtype, as far as the given dtype can represent it."""
    low, high = float(wanted.min), float(wanted.max)
    if jnp.issubdtype(given, jnp.integer):
        limits = np.iinfo(given)
        return max(int(low), int(limits.min)), min(int(wanted.max), int(limits.max))
    largest = np.asarray(high, given)
    if wanted.is_integer and float(largest) > high:  # rounded up; the next smaller number fits
        largest = np.nextafter(largest, np.asarray(0, given))
    return low, largest
