"""Warnings that name the line of the user's program, not one of ours."""

from __future__ import annotations

import sys
import warnings
from typing import Final

# What stands between a user's line and the place where something is noticed.
_NOT_THE_USERS: Final = frozenset({"unisono", "unisono_launch", "keras", "jax", "contextlib", "functools"})


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the innermost line of the calling thread that belongs to none of these packages.

    A warning that is repeated there with the same text is shown once, as Python does.
    """
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)
