"""Sends nests from the host to devices, one to each; and which leaves can be on a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import jax
import numpy as np

from unisono._src.data.plans import Nest, flatten, unflatten

_HOST_KINDS: Final = frozenset("OSUMm")
"""NumPy's letters for object, bytes, str, datetime and timedelta: JAX has no arrays of them."""


def is_host_only(dtype: np.dtype[Any]) -> bool:
    """Whether devices have no arrays of this dtype: strings, above all."""
    return getattr(dtype, "kind", None) in _HOST_KINDS  # dtypes of random keys have no kind


def can_be_on_device(leaf: Any) -> bool:
    """Whether a device can have an array of this value."""
    if isinstance(leaf, jax.Array | bool | int | float | complex):
        return True
    return isinstance(leaf, np.ndarray | np.generic) and not is_host_only(leaf.dtype)


def put_on_devices(nests: Sequence[Nest], devices: Sequence[jax.Device]) -> list[Nest]:
    """`nests[i]` on `devices[i]`. Strings, None and what is no array stay as they are.

    >>> (placed,) = put_on_devices([{"x": np.ones(2, np.float32), "name": np.array("a")}], jax.devices("cpu")[:1])
    >>> placed["x"].devices() == {jax.devices("cpu")[0]}, placed["name"]
    (True, array('a', dtype='<U1'))
    """
    leaves = [flatten(nest) for nest in nests]
    moving = [
        (replica, number)
        for replica, replica_leaves in enumerate(leaves)
        for number, leaf in enumerate(replica_leaves)
        if can_be_on_device(leaf)
    ]
    # In one call: eight small arrays take 170 µs on a CPU, one by one 240 µs.
    placed = jax.device_put([leaves[i][j] for i, j in moving], [devices[i] for i, _ in moving])
    for (replica, number), array in zip(moving, placed, strict=True):
        leaves[replica][number] = array
    return [unflatten(nest, replica_leaves) for nest, replica_leaves in zip(nests, leaves, strict=True)]
