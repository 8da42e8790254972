"""What `fit` reads from a distributed dataset. Strategies are above this package, so it is known by its attributes."""

from __future__ import annotations

from typing import Any


def unwrap_distributed(x: Any) -> Any:
    """The dataset of global batches inside a distributed dataset; anything else as it is."""
    return getattr(x, "_global_batches", x)
