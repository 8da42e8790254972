"""Functions that create tensors: `tf.zeros`, `tf.range`, `tf.one_hot`, `tf.sequence_mask` and related ones."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from unisono.tf._dtypes import as_dtype, string, to_jax_dtype
from unisono.tf._op import op_without_folding
from unisono.tf._operands import is_known, jax_dtype_or, static_int, static_shape, static_value
from unisono.tf._runtime_range import RuntimeRange
from unisono.tf._tensors import as_array, convert_to_tensor, is_text, to_host_tensor


@op_without_folding
def zeros(shape: Any, dtype: Any = "float32", layout: Any = None) -> Any:
    """Zeros; empty strings for `tf.string`.

    >>> zeros([2, 3]).shape
    TensorShape([2, 3])
    """
    if as_dtype(dtype) == string:
        return to_host_tensor(np.full(static_shape(shape), b"", object))
    return jnp.zeros(static_shape(shape), to_jax_dtype(dtype))


@op_without_folding
def ones(shape: Any, dtype: Any = "float32", layout: Any = None) -> Any:
    """Ones."""
    return jnp.ones(static_shape(shape), to_jax_dtype(dtype))


@op_without_folding
def zeros_like(input: Any, dtype: Any = None, layout: Any = None) -> Any:
    """Zeros in the shape and dtype of a tensor."""
    return jnp.zeros_like(as_array(input), None if dtype is None else to_jax_dtype(dtype))


@op_without_folding
def ones_like(input: Any, dtype: Any = None, layout: Any = None) -> Any:
    """Ones in the shape and dtype of a tensor."""
    return jnp.ones_like(as_array(input), None if dtype is None else to_jax_dtype(dtype))


@op_without_folding
def fill(dims: Any, value: Any, layout: Any = None) -> Any:
    """A shape filled with one value."""
    if is_text(value):
        return to_host_tensor(np.full(static_shape(dims), np.asarray(convert_to_tensor(value)).item(), object))
    return jnp.broadcast_to(as_array(value), static_shape(dims))


@op_without_folding
def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = "float32") -> Any:
    """The identity matrix, repeated over ``batch_shape``."""
    columns = None if num_columns is None else static_int(num_columns)
    one = jnp.eye(static_int(num_rows), columns, dtype=to_jax_dtype(dtype))
    return one if batch_shape is None else jnp.broadcast_to(one, (*static_shape(batch_shape), *one.shape))


@op_without_folding
def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Any:
    """The numbers from ``start`` up to ``limit``, exclusive. A single argument is the limit.

    With a limit known only at run time a compiled function can loop over the result: `for i in tf.range(n)`. One that
    uses it otherwise runs on the host.

    >>> range(3, 10, 3).tolist()
    [3, 6, 9]
    """
    if limit is None:
        start, limit = 0, start
    if not is_known([start, limit, delta]):
        first, last, step = (each.value if isinstance(each, keras.Variable) else each for each in (start, limit, delta))
        return RuntimeRange(first, last, step, None if dtype is None else to_jax_dtype(dtype))
    numbers = [static_value(each, "tf.range") for each in (start, limit, delta)]
    if dtype is None:
        # Python numbers are 32 bits wide; among values with a dtype the widest wins.
        given = [as_array(each).dtype for each in (start, limit, delta)]
        dtype = jnp.result_type(*given)
    wanted = to_jax_dtype(dtype)
    # As TensorFlow in the wanted precision: in float64, 1.3 is more than three steps of 0.1 away from 1.
    exact = np.float64 if jnp.issubdtype(wanted, jnp.integer) else wanted
    first, last, step = (each.astype(exact) for each in numbers)
    count = max(0, int(np.ceil((last - first) / step)))
    if jnp.issubdtype(wanted, jnp.integer):
        return jnp.arange(int(numbers[0]), int(numbers[0]) + count * int(numbers[2]), int(numbers[2]), wanted)
    return (numbers[0] + np.arange(count) * numbers[2]).astype(wanted) + jnp.zeros((), wanted)


@op_without_folding
def linspace(start: Any, stop: Any, num: Any, axis: Any = 0) -> Any:
    """``num`` evenly spaced numbers, ``start`` and ``stop`` included."""
    start, stop = as_array(start), as_array(stop)
    dtype = jnp.result_type(start, stop)
    floating = dtype if jnp.issubdtype(dtype, jnp.floating) else jnp.float32
    return jnp.linspace(start.astype(floating), stop.astype(floating), static_int(num), axis=static_int(axis))


@op_without_folding
def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None
) -> Any:
    """A new dim, by default the last, with ``on_value`` at each index and ``off_value`` elsewhere.

    >>> one_hot([0, 2], 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if dtype is None:
        given = next((each for each in (on_value, off_value) if each is not None), 1.0)
        dtype = as_array(given).dtype
    wanted = to_jax_dtype(dtype)
    on, off = as_array(1 if on_value is None else on_value, wanted), as_array(off_value or 0, wanted)
    hot = jax.nn.one_hot(
        as_array(indices), static_int(depth), axis=-1 if axis is None else static_int(axis), dtype=jnp.bool_
    )
    return jnp.where(hot, on, off)


@op_without_folding
def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = "bool") -> Any:
    """A row for each length: True for that many first positions."""
    array = as_array(lengths)
    longest = (
        static_value(lengths, "tf.sequence_mask without maxlen: the largest of lengths") if maxlen is None else None
    )
    most = static_int(maxlen) if longest is None else int(longest.max(initial=0))
    return (jnp.arange(most) < array[..., None]).astype(jax_dtype_or(dtype, "bool"))
