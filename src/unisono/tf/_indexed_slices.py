"""`tf.IndexedSlices`: some rows of a tensor, and their indices."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono.tf._operands import static_shape
from unisono.tf._tensors import as_array

NO_SHAPE = """tf.IndexedSlices without dense_shape cannot be converted to a tensor: its number of rows is unknown. Pass
dense_shape=[rows, ...]."""


class IndexedSlices:
    """Rows for `variable.scatter_update` and related methods. Gradients are always dense here, never of this class.

    >>> IndexedSlices(values=[[1.0, 2.0]], indices=[3]).indices.tolist()
    [3]

    Args:
        values: the rows.
        indices: the index of each row.
        dense_shape: the shape of the whole tensor.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self.values = as_array(values)
        self.indices = as_array(indices)
        self.dense_shape = None if dense_shape is None else as_array(dense_shape)

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self.values.dtype

    @property
    def shape(self) -> Any:
        """The shape of the whole tensor; None if unknown."""
        return None if self.dense_shape is None else static_shape(self.dense_shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The dense tensor: zeros with these rows added."""
        if self.shape is None:
            raise ValueError(NO_SHAPE)
        return np.asarray(jnp.zeros(self.shape, self.dtype).at[self.indices].add(self.values), dtype)

    def __repr__(self) -> str:
        return f"IndexedSlices(indices={self.indices!r}, values={self.values!r}, dense_shape={self.dense_shape!r})"
