"""To which strategy a model or a variable belongs: an attribute of ours on objects of Keras's."""

from __future__ import annotations

from typing import Any

from unisono._src.replicas import context

_OWNER = "_unisono_strategy"


def get_owner(thing: Any) -> context.HasPlacement | None:
    """The strategy in whose scope a model or a variable was made, or None."""
    owner: context.HasPlacement | None = getattr(thing, _OWNER, None)
    return owner


def set_owner(thing: Any, owner: context.HasPlacement | None) -> None:
    """From now on ``thing`` belongs to ``owner``."""
    setattr(thing, _OWNER, owner)
