"""Local paths given as text, bytes, path objects or text tensors, and `tf.errors` in place of OSError."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from unisono.tf import errors

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


@contextlib.contextmanager
def translate_os_errors(path: str) -> Iterator[None]:
    """Converts an OSError to the matching class of `tf.errors`, which is also Python's class."""
    try:
        yield
    except errors.OpError:
        raise
    except FileNotFoundError as error:
        raise errors.NotFoundError(None, None, f"{path}; No such file or directory") from error
    except FileExistsError as error:
        raise errors.AlreadyExistsError(None, None, f"{path}; File exists") from error
    except PermissionError as error:
        raise errors.PermissionDeniedError(None, None, f"{path}; {error.strerror}") from error
    except OSError as error:  # a folder instead of a file, a folder that is not empty
        raise errors.FailedPreconditionError(None, None, f"{path}; {error.strerror}") from error
