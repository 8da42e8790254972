"""Arrays that are not bound to their device.

Checked against JAX 0.10.2, 0.11.2 and 0.12.0.1: `ArrayImpl` takes the buffers of another array, and whether it is
committed.
"""

from __future__ import annotations

from typing import Any

from jax._src.array import ArrayImpl


def uncommit(array: Any) -> Any:
    """The same array, not a copy, which may be computed with beside arrays of other devices: JAX sends it there."""
    if not isinstance(array, ArrayImpl) or not array.committed or len(array.devices()) > 1:
        return array
    return ArrayImpl(array.aval, array.sharding, array._arrays, committed=False)
