"""Merging neighbouring dims of a ragged tensor into one."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.tf._tensors import to_host_tensor
from unisono.tf.ragged import _row_partition as partition
from unisono.tf.ragged._base import RaggedBase, is_ragged


def merge_dims(value: Any, outer: int, inner: int) -> Any:
    """Dims ``outer`` to ``inner`` as one."""
    if outer == inner:
        return value
    if not is_ragged(value):
        return value.reshape(*value.shape[:outer], -1, *value.shape[inner + 1 :])
    if outer == 0:
        return merge_dims(value.values, 0, inner - 1)
    if outer > 1:
        return value.with_rows_of(merge_dims(value.values, outer - 1, inner - 1))
    merged: RaggedBase = value
    for _ in range(inner - outer):
        merged = _merge_once(merged)
    return merged


def _merge_once(value: RaggedBase) -> Any:
    values, splits = value.values, value.row_splits
    if is_ragged(values):
        uniform = None
        if value.uniform_row_length is not None and values.uniform_row_length is not None:
            uniform = value.uniform_row_length * values.uniform_row_length
        if partition.is_traced(splits, values.row_splits):
            return value.rebuild(values.values, values.row_splits[splits], uniform)
        joined = np.asarray(values.row_splits)[np.asarray(splits)]
        return value.rebuild(values.values, to_host_tensor(joined), uniform)
    width = int(values.shape[1])
    length = None if value.uniform_row_length is None else value.uniform_row_length * width
    flat = values.reshape(int(values.shape[0]) * width, *values.shape[2:])
    return value.rebuild(flat, splits * width, length)
