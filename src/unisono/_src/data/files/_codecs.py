"""Pillow and simplejpeg: the one place where they are imported. They are optional: it waits for the first image."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType


@cache
def pillow() -> ModuleType:
    """`PIL.Image`, or a sentence about where to get it."""
    return _imported("PIL.Image")


@cache
def simplejpeg() -> ModuleType:
    """`simplejpeg`, or a sentence about where to get it."""
    return _imported("simplejpeg")


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"Images are read and written with Pillow and simplejpeg, and {name} could not be imported ({error}). "
            f"Type: pip install 'unisono[images]'"
        ) from error
