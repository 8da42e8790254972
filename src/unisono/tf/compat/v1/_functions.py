"""Functions of `tf.compat.v1` whose arguments are those of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono.tf import _array_ops, _control_flow, _creation_ops, _indexing, debugging, linalg, math, nn, strings
from unisono.tf import io as tf_io
from unisono.tf._host_calls import numpy_function
from unisono.tf._operands import convert_operands, static_shape
from unisono.tf._print import print as tf_print
from unisono.tf._tensors import as_array
from unisono.tf.compat.v1._old_arguments import reduction, with_old_names
from unisono.tf.image import extract_patches
from unisono.tf.random import categorical

reduce_all = reduction(math.reduce_all)
reduce_any = reduction(math.reduce_any)
reduce_logsumexp = reduction(math.reduce_logsumexp)
reduce_max = reduction(math.reduce_max)
reduce_mean = reduction(math.reduce_mean)
reduce_min = reduction(math.reduce_min)
reduce_prod = reduction(math.reduce_prod)
reduce_sum = reduction(math.reduce_sum)
count_nonzero = with_old_names(math.count_nonzero, keep_dims="keepdims", reduction_indices="axis", input_tensor="input")
norm = with_old_names(linalg.norm, keep_dims="keepdims")
squeeze = with_old_names(_array_ops.squeeze, squeeze_dims="axis")
zeros_like = with_old_names(_creation_ops.zeros_like, "optimize", tensor="input")
ones_like = with_old_names(_creation_ops.ones_like, "optimize", tensor="input")
cond = with_old_names(_control_flow.cond, "strict", fn1="true_fn", fn2="false_fn")
batch_to_space_nd = _array_ops.batch_to_space
confusion_matrix = math.confusion_matrix
decode_csv = tf_io.decode_csv
decode_raw = with_old_names(tf_io.decode_raw, bytes="input_bytes")
parse_example = tf_io.parse_example
parse_single_example = tf_io.parse_single_example
string_to_number = with_old_names(strings.to_number, string_tensor="input")
substr = strings.substr
reduce_join = with_old_names(strings.reduce_join, keep_dims="keepdims", reduction_indices="axis")
assert_equal = with_old_names(debugging.assert_equal, "data")
assert_greater = with_old_names(debugging.assert_greater, "data")
assert_greater_equal = with_old_names(debugging.assert_greater_equal, "data")
assert_less = with_old_names(debugging.assert_less, "data")
assert_less_equal = with_old_names(debugging.assert_less_equal, "data")
assert_near = with_old_names(debugging.assert_near, "data")
assert_non_negative = with_old_names(debugging.assert_non_negative, "data")
assert_none_equal = with_old_names(debugging.assert_none_equal, "data")
assert_positive = with_old_names(debugging.assert_positive, "data")
assert_rank = with_old_names(debugging.assert_rank, "data")
assert_rank_at_least = with_old_names(debugging.assert_rank_at_least, "data")
assert_integer = debugging.assert_integer
assert_negative = with_old_names(debugging.assert_negative, "data")
assert_non_positive = with_old_names(debugging.assert_non_positive, "data")
assert_rank_in = with_old_names(debugging.assert_rank_in, "data")
assert_scalar = debugging.assert_scalar
assert_type = debugging.assert_type
bincount = math.bincount
depth_to_space = nn.depth_to_space
floor_div = math.floordiv
space_to_depth = nn.space_to_depth


def argmax(input: Any, axis: Any = None, name: Any = None, dimension: Any = None, output_type: Any = "int64") -> Any:
    """The index of the largest element; along the first dim by default."""
    return math.argmax(input, dimension if axis is None else axis, output_type)


def argmin(input: Any, axis: Any = None, name: Any = None, dimension: Any = None, output_type: Any = "int64") -> Any:
    """The index of the smallest element; along the first dim by default."""
    return math.argmin(input, dimension if axis is None else axis, output_type)


arg_max, arg_min = argmax, argmin


def shape(input: Any, name: Any = None, out_type: Any = "int32") -> Any:
    """The shape as an integer tensor."""
    return _array_ops.shape(input, out_type)


def size(input: Any, name: Any = None, out_type: Any = "int32") -> Any:
    """The number of elements."""
    return _array_ops.size(input, out_type)


def expand_dims(input: Any, axis: Any = None, name: Any = None, dim: Any = None) -> Any:
    """Inserts a dim of size 1."""
    return _array_ops.expand_dims(input, dim if axis is None else axis)


def gather(
    params: Any, indices: Any, validate_indices: Any = None, name: Any = None, axis: Any = None, batch_dims: Any = 0
) -> Any:
    """The slices at these indices."""
    return _indexing.gather(params, indices, axis=axis, batch_dims=batch_dims)


def div(x: Any, y: Any, name: Any = None) -> Any:
    """The quotient as in Python 2: that of two integers is rounded down."""
    x, y = convert_operands(x, y)
    both_integers = jnp.issubdtype(x.dtype, jnp.integer) and jnp.issubdtype(y.dtype, jnp.integer)
    return math.floordiv(x, y) if both_integers else math.divide(x, y)


def to_float(x: Any, name: Any = None) -> Any:
    """Casts to float32."""
    return _array_ops.cast(x, "float32")


def to_double(x: Any, name: Any = None) -> Any:
    """Casts to float64."""
    return _array_ops.cast(x, "float64")


def to_int32(x: Any, name: Any = None) -> Any:
    """Casts to int32."""
    return _array_ops.cast(x, "int32")


def to_int64(x: Any, name: Any = None) -> Any:
    """Casts to int64."""
    return _array_ops.cast(x, "int64")


def to_bfloat16(x: Any, name: Any = None) -> Any:
    """Casts to bfloat16."""
    return _array_ops.cast(x, "bfloat16")


def to_complex64(x: Any, name: Any = None) -> Any:
    """Casts to complex64."""
    return _array_ops.cast(x, "complex64")


def batch_gather(params: Any, indices: Any, name: Any = None) -> Any:
    """The elements at these indices in each row of a batch."""
    return _indexing.gather(params, indices, batch_dims=max(as_array(indices).ndim - 1, 0))


def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: Any = None,
) -> Any:
    """An array with these values at these indices, and ``default_value`` elsewhere."""
    values = as_array(sparse_values)
    indices = as_array(sparse_indices)
    where = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    filled = jnp.full(static_shape(output_shape), default_value, values.dtype)
    return filled.at[tuple(where.T)].set(values)


def string_split(
    source: Any = None,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    input: Any = None,
    result_type: str = "SparseTensor",
    name: Any = None,
) -> Any:
    """Splits strings: a sparse tensor of the parts, or a ragged one."""
    found = strings.split(source if input is None else input, sep if delimiter is None else delimiter)
    return found.to_sparse() if result_type == "SparseTensor" else found


def Print(  # noqa: N802  (TensorFlow's name)
    input_: Any, data: Any, message: str = "", first_n: Any = None, summarize: Any = None, name: Any = None
) -> Any:
    """Prints ``data`` now, or each time the compiled function runs, and returns ``input_``."""
    tf_print(message, *data) if message else tf_print(*data)
    return as_array(input_)


def py_func(func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: Any = None) -> Any:
    """Calls a function of NumPy arrays, as `tf.numpy_function`."""
    return numpy_function(func, inp, Tout, stateful)


def multinomial(logits: Any, num_samples: Any, seed: Any = None, name: Any = None, output_dtype: Any = None) -> Any:
    """Draws classes, as `tf.random.categorical`."""
    return categorical(logits, num_samples, output_dtype, seed)


def extract_image_patches(
    images: Any,
    ksizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: Any = None,
    sizes: Any = None,
) -> Any:
    """Patches of images, as `tf.image.extract_patches`."""
    return extract_patches(images, ksizes if sizes is None else sizes, strides, rates, padding)


def verify_tensor_all_finite(
    t: Any = None, msg: str | None = None, name: Any = None, x: Any = None, message: str | None = None
) -> Any:
    """Raises InvalidArgumentError if an element is infinite or not a number."""
    return debugging.assert_all_finite(t if x is None else x, message or msg or "")


def setdiff1d(x: Any, y: Any, index_dtype: Any = "int32", name: Any = None) -> Any:
    """The elements of ``x`` that are not in ``y``, and their indices. Not inside compiled functions."""
    first = np.asarray(as_array(x))
    kept = np.flatnonzero(~np.isin(first, np.asarray(as_array(y))))
    return as_array(first[kept]), as_array(kept, index_dtype)
