"""Paths given as text, bytes, path objects or text tensors. Only local files are supported."""

from __future__ import annotations

import os
import re
from typing import Any, Final

import numpy as np

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")

NOT_LOCAL = """{call}: {path!r} is on {scheme}://. Only local files are supported: mount the storage as a folder, or
copy the files with the tools of its vendor."""


def to_local_path(path: Any, call: str) -> str:
    """Converts to the path of a local file or folder.

    Args:
        path: text, bytes, a path object, or a scalar text tensor; "file://" is removed.
        call: the function that was called, for the error message.
    """
    if isinstance(path, np.ndarray) and path.ndim == 0:
        path = path.item()
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"{call}: {path!r} is not a path. Expected a string, bytes or a path.")
    name = os.fsdecode(path)
    scheme = _SCHEME.match(name)
    if scheme is None:
        return name
    if scheme[1].lower() == "file":
        return name[len("file://") :]
    raise NotImplementedError(NOT_LOCAL.format(call=call, path=name, scheme=scheme[1]))
