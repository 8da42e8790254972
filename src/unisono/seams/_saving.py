"""Hook: of several processes that train together, only the chief writes files.

Checked against Keras 3.15.1: `save`, `save_weights` and `export` of `keras.Model` are what users and callbacks call.
All processes hold the same weights, so whoever else calls them has nothing to add, and would write into the same files.
"""

from __future__ import annotations

import functools
from typing import Any

import keras

from unisono.runtime import processes
from unisono.seams._owner import owner_of


def save_on_chief() -> None:
    """Installs the hook."""
    for name in ("save", "save_weights", "export"):
        setattr(keras.Model, name, _on_chief(getattr(keras.Model, name)))


def _on_chief(original: Any) -> Any:
    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        owner = owner_of(self)
        if owner is not None and owner.placement.spans_processes and not processes().is_chief:
            return None
        return original(self, *args, **kwargs)

    return method
