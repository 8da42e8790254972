"""Functions of single values, applied to the flat values of ragged tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono.tf._op import get_op
from unisono.tf._operands import static_axes
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import flat_values_of, is_ragged, len_of, with_flat_values_of
from unisono.tf.ragged._broadcast import broadcast, broadcast_to_rows, flat_operand, have_same_rows
from unisono.tf.ragged._ragged_tensor import RaggedTensor
from unisono.tf.ragged._reductions import MAXIMUM, SUM


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function with the flat values of all ragged arguments, which have the same rows.

    >>> from unisono.tf.ragged import constant
    >>> map_flat_values(lambda x: x * 2, constant([[1, 2], [3]]))
    <tf.RaggedTensor [[2, 4], [6]]>
    """
    found = [each for each in [*args, *kwargs.values()] if is_ragged(each)]
    if not found:
        return op(*args, **kwargs)
    first = found[0]
    for other in found[1:]:
        if not have_same_rows(first, other):
            raise ValueError("tf.ragged.map_flat_values: the ragged arguments have rows of different lengths.")
    flat_args = [flat_values_of(each) for each in args]
    flat_kwargs = {name: flat_values_of(each) for name, each in kwargs.items()}
    result = op(*flat_args, **flat_kwargs)
    if not hasattr(result, "shape") or not len(result.shape) or len_of(result) != len_of(flat_values_of(first)):
        raise ValueError("tf.ragged.map_flat_values: the function has to return one value for each flat value.")
    return with_flat_values_of(first, result)


def unary_handler(name: str) -> Callable[..., Any]:
    """For functions of one tensor, and perhaps of options."""

    def handle(*args: Any, **kwargs: Any) -> Any:
        return map_flat_values(get_op(name), *args, **kwargs)

    return handle


def binary_handler(name: str) -> Callable[..., Any]:
    """For functions of two tensors that are broadcast."""

    def handle(*args: Any, **kwargs: Any) -> Any:
        args = (*args, *kwargs.values())
        x, y, rows = broadcast(*args[:2])
        return with_flat_values_of(rows, get_op(name)(x, y, *args[2:]))

    return handle


def add_n(inputs: Any) -> Any:
    return functools.reduce(get_op("math.add"), inputs)


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    return get_op("math.maximum")(get_op("math.minimum")(t, clip_value_max), clip_value_min)


def join(inputs: Any, separator: Any = "") -> Any:
    """`tf.strings.join` of ragged and dense strings."""
    template = next(each for each in inputs if is_ragged(each))
    for each in inputs:
        template = broadcast_to_rows(template, each) if is_ragged(each) else template
    parts = [flat_operand(each, template) for each in inputs]
    return with_flat_values_of(template, get_op("strings.join")(parts, separator))


def softmax(logits: Any, axis: Any = None) -> Any:
    """Softmax along the last dim, which may be the ragged one."""
    rank = len(logits.shape)
    if static_axes(-1 if axis is None else axis) not in (-1, rank - 1):
        raise ValueError("tf.nn.softmax of a ragged tensor: expected axis=-1.")
    if not is_ragged(logits):
        return get_op("nn.softmax")(logits)
    if len(logits.values.shape) > 1:
        return logits.with_rows_of(softmax(logits.values))
    rows, number = logits.rowids(), logits.num_rows()
    values = jnp.asarray(logits.values)
    largest = MAXIMUM.reduce(values, rows, number)
    powers = jnp.exp(values - largest[rows if partition.is_traced(rows) else np.asarray(rows)])
    totals = SUM.reduce(powers, rows, number)
    return logits.with_rows_of(powers / totals[rows if partition.is_traced(rows) else np.asarray(rows)])


def matmul(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
    """Rows of vectors times a matrix. Two ragged tensors are multiplied matrix by matrix."""
    if is_ragged(a) and not is_ragged(b):
        if len(b.shape) != 2:
            raise ValueError(f"tf.matmul of a ragged tensor: expected a matrix on the right, got shape {b.shape}.")
        flat = flat_values_of(a)
        if len(flat.shape) > 1:
            return with_flat_values_of(a, get_op("linalg.matmul")(flat, b, *args, **kwargs))
    if len(a.shape) < 3 or len(b.shape) < 3:
        raise ValueError("tf.matmul of ragged tensors: expected batches of matrices, of 3 dims.")
    products = [
        get_op("linalg.matmul")(_as_matrix(x), _as_matrix(y), *args, **kwargs) for x, y in zip(a, b, strict=True)
    ]
    return get_op("ragged.stack")(products)


def _as_matrix(value: Any) -> Any:
    return value.to_tensor() if isinstance(value, RaggedTensor) else value


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None) -> Any:
    flat = get_op("nn.embedding_lookup")(params, flat_values_of(ids), max_norm)
    return with_flat_values_of(ids, flat)
