"""`tf.ragged.cross`: combinations of the values of several features, row by row."""

from __future__ import annotations

from typing import Any

from unisono.tf._op import get_op
from unisono.tf.ragged._ragged_tensor import RaggedTensor


def cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """Every combination of the values of a row of each input, joined by "_X_".

    >>> cross([[["a", "b"]], [["x"]]])
    <tf.RaggedTensor [[b'a_X_x', b'b_X_x']]>
    """
    return RaggedTensor.from_sparse(get_op("sparse.cross")(inputs))


def cross_hashed(inputs: Any, num_buckets: Any = 0, hash_key: Any = None, name: str | None = None) -> RaggedTensor:
    """:func:`cross`, hashed to integers below ``num_buckets``."""
    return RaggedTensor.from_sparse(get_op("sparse.cross_hashed")(inputs, num_buckets, hash_key))
