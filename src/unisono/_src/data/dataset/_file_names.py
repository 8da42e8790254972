"""File names out of whatever scripts pass."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np


def file_names(names: Any) -> list[str]:
    """A name, several, arrays and datasets of them, as a list of strings.

    >>> file_names(["a", b"b", np.array(["c"])])
    ['a', 'b', 'c']
    """
    if isinstance(names, str | os.PathLike):
        return [str(os.fspath(names))]
    if isinstance(names, bytes):
        return [names.decode()]
    if isinstance(names, np.ndarray):
        return [name for item in names.flat for name in file_names(item)]
    if not isinstance(names, Iterable):
        raise TypeError(f"Expected the name of a file, or several, got {names!r} ({type(names).__name__}).")
    return [name for item in names for name in file_names(item)]
