"""Names of files: text, bytes, paths or tensors of text. There are files of this machine only."""

from __future__ import annotations

import os
import re
from typing import Any, Final

import numpy as np

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")

NOT_LOCAL = """{call}: {path!r} is an address of {scheme}://. Only files of this machine can be used here: mount the
storage as a folder, or copy the files with the tools of its vendor."""


def to_local_path(path: Any, call: str) -> str:
    """The name of a local file or folder; ``call`` is who asks, for the error."""
    if isinstance(path, np.ndarray) and path.ndim == 0:
        path = path.item()
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"{call}: {path!r} is no name of a file. Expected a string, bytes or a path.")
    name = os.fsdecode(path)
    scheme = _SCHEME.match(name)
    if scheme is None:
        return name
    if scheme[1].lower() == "file":
        return name[len("file://") :]
    raise NotImplementedError(NOT_LOCAL.format(call=call, path=name, scheme=scheme[1]))
