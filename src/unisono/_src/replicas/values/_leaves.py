"""Nests as JAX takes them apart, with None as a leaf like any other."""

from __future__ import annotations

from typing import Any

import jax


def flatten_with_none(nest: Any) -> tuple[list[Any], Any]:
    """The leaves of ``nest``, None among them, and what `jax.tree.unflatten` makes it of again."""
    return jax.tree.flatten(nest, is_leaf=lambda leaf: leaf is None)
