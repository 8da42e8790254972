"""Ragged tensors as pytrees of JAX, which pass through compiled functions."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from unisono.tf._tensors import to_host_tensor
from unisono.tf.ragged._ragged_tensor import RaggedTensor


class _KnownRows:
    """Row splits as part of the structure of a pytree: compared by value."""

    def __init__(self, splits: Any) -> None:
        self.splits = np.asarray(splits)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _KnownRows) and np.array_equal(self.splits, other.splits)

    def __hash__(self) -> int:
        return hash(self.splits.tobytes())

    def __repr__(self) -> str:
        return f"row_splits={self.splits.tolist()}"


def _flatten(ragged: RaggedTensor) -> tuple[tuple[Any, ...], Any]:
    """Known row splits are part of the structure, so that they are known inside compiled functions, too: a function is
    traced again for other rows, as it is for another number of values."""
    if isinstance(ragged.row_splits, np.ndarray):
        return (ragged.values,), (_KnownRows(ragged.row_splits), ragged.uniform_row_length)
    return (ragged.values, ragged.row_splits), (None, ragged.uniform_row_length)


def _unflatten(structure: Any, parts: Any) -> RaggedTensor:
    known, uniform = structure
    values, *splits = parts
    return RaggedTensor(values, splits[0] if known is None else to_host_tensor(known.splits), uniform)


def register() -> None:
    """Makes ragged tensors pytrees of JAX. Called when `tf.ragged` is imported."""
    jax.tree_util.register_pytree_node(RaggedTensor, _flatten, _unflatten)
