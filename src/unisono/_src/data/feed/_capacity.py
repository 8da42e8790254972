"""How many batches travel to the devices together."""

from __future__ import annotations

import math
from typing import Any, Final

import jax

# Enough to make a transfer and a call worth while, little enough to be ready soon and to fit beside any model.
_MAX_BYTES: Final = 8 * 2**20
_MAX_BATCHES: Final = 32


def batches_per_stack(batch_spec: Any) -> int:
    """The number of batches of this shape in one stack. Depends on the shape alone, never on a clock."""
    num_bytes: int = sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(batch_spec))
    return max(1, min(_MAX_BATCHES, _MAX_BYTES // max(1, num_bytes)))
