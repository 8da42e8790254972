"""`top_k`, `bincount`, confusion matrices, histograms and permutations."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from unisono.tf._op import op
from unisono.tf._operands import hide_negative, jax_dtype_or, static_int, static_shape, static_value
from unisono.tf._tensors import as_array

UNKNOWN_LENGTH = "tf.math.bincount: without maxlength the length of the result"


class TopK(NamedTuple):
    """The largest values and their indices."""

    values: Any
    indices: Any


@op
def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = "int32") -> Any:
    """The ``k`` largest values along the last dim, sorted, and their indices."""
    values, indices = jax.lax.top_k(as_array(input), static_int(k))
    return TopK(values, indices.astype(jax_dtype_or(index_type, "int32")))


@op
def in_top_k(targets: Any, predictions: Any, k: Any) -> Any:
    """Whether the prediction for the target of each row is among the ``k`` largest of the row."""
    targets, scores = as_array(targets), as_array(predictions)
    inside = (targets >= 0) & (targets < scores.shape[1])
    target_scores = jnp.take_along_axis(scores, jnp.clip(targets, 0, scores.shape[1] - 1)[:, None].astype(jnp.int32), 1)
    larger = jnp.sum(scores > target_scores, 1)
    return inside & (larger < static_int(k)) & jnp.isfinite(target_scores[:, 0])


@op
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = "int32",
    axis: Any = None,
    binary_output: bool = False,
) -> Any:
    """Counts how often each of 0, 1, 2, ... occurs in ``arr``, or in each row for ``axis=-1``; or sums the weights."""
    array = hide_negative(arr)
    length = _bincount_length(arr, minlength, maxlength)
    weight = None if weights is None else as_array(weights)
    out = jax_dtype_or(dtype, "int32") if weight is None else weight.dtype

    def count(numbers: Any, weight: Any) -> Any:
        ones = jnp.ones(numbers.shape, out) if weight is None else weight
        counts = jnp.zeros(length, out).at[numbers].add(ones, mode="drop")
        return (counts > 0).astype(out) if binary_output else counts

    rows = None if axis is None else static_int(axis)
    if rows not in (None, 0, -1):
        raise ValueError(f"tf.math.bincount: axis is {rows}. Expected None or 0 for all elements, or -1 for each row.")
    if rows != -1 or array.ndim <= 1:
        return count(array.reshape(-1), None if weight is None else weight.reshape(-1))
    if weight is None:
        return jax.vmap(lambda row: count(row, None))(array)
    return jax.vmap(count)(array, weight)


@op
def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, weights: Any = None, dtype: Any = "int32"
) -> Any:
    """Counts how often each label (row) was predicted as each class (column).

    >>> confusion_matrix([0, 1, 1], [0, 1, 0]).tolist()
    [[1, 0], [1, 1]]
    """
    if num_classes is None:
        what = "tf.math.confusion_matrix: without num_classes the size of the result"
        num_classes = max(int(static_value(labels, what).max()), int(static_value(predictions, what).max())) + 1
    count = static_int(num_classes)
    rows, columns = hide_negative(labels).reshape(-1), hide_negative(predictions).reshape(-1)
    out = jax_dtype_or(dtype, "int32")
    amounts = jnp.ones(rows.shape, out) if weights is None else as_array(weights).reshape(-1).astype(out)
    return jnp.zeros((count, count), out).at[rows, columns].add(amounts, mode="drop")


@op
def invert_permutation(x: Any) -> Any:
    """The inverse permutation."""
    array = as_array(x)
    return jnp.zeros_like(array).at[array].set(jnp.arange(array.shape[0], dtype=array.dtype))


@op
def histogram_fixed_width_bins(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = "int32") -> Any:
    """The bin of each value; values outside the range are in the first or last bin."""
    array, (low, high) = as_array(values), value_range
    scaled = (array - low) / (high - low) * static_int(nbins)
    return jnp.clip(jnp.floor(scaled), 0, static_int(nbins) - 1).astype(jax_dtype_or(dtype, "int32"))


@op
def histogram_fixed_width(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = "int32") -> Any:
    """Counts the values in each of ``nbins`` bins of equal width."""
    bins = histogram_fixed_width_bins(values, value_range, nbins)
    out = jax_dtype_or(dtype, "int32")
    return jnp.zeros(static_int(nbins), out).at[bins.reshape(-1)].add(jnp.ones((), out))


@op
def approx_max_k(operand: Any, k: Any, reduction_dimension: int = -1, recall_target: float = 0.95) -> Any:
    """Approximately the ``k`` largest values along a dim, and their indices."""
    return jax.lax.approx_max_k(as_array(operand), static_int(k), reduction_dimension, recall_target)


@op
def approx_min_k(operand: Any, k: Any, reduction_dimension: int = -1, recall_target: float = 0.95) -> Any:
    """Approximately the ``k`` smallest values along a dim, and their indices."""
    return jax.lax.approx_min_k(as_array(operand), static_int(k), reduction_dimension, recall_target)


def _bincount_length(arr: Any, minlength: Any, maxlength: Any) -> int:
    least, most = (None if each is None else static_shape(each)[0] for each in (minlength, maxlength))
    if most is not None and (least == most or isinstance(arr, jax.core.Tracer)):
        return most
    numbers = static_value(arr, UNKNOWN_LENGTH)
    found = max(int(numbers.max()) + 1 if numbers.size else 0, least or 0)
    return found if most is None else min(found, most)
