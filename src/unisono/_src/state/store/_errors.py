"""What can be wrong with files, in sentences."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT)


class CheckpointError(Exception):
    """Files of a checkpoint cannot be written, read or deleted. The message says which, why, and what to do."""


class BadCheckpoint(CheckpointError):  # noqa: N818 (what is bad is the checkpoint, and `except BadCheckpoint` reads so)
    """A folder that is no usable checkpoint: damaged, incomplete, unreadable, or of a newer Unisono.

    >>> print(BadCheckpoint(Path("ckpt/step-5"), "state.json is missing."))
    The checkpoint 'ckpt/step-5' cannot be used: state.json is missing.
    """

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(folder, reason)  # both, so that a copy of the exception can be made
        self.folder = folder
        self.reason = reason

    def __str__(self) -> str:
        return f"The checkpoint {os.fspath(self.folder)!r} cannot be used: {self.reason}"


@contextlib.contextmanager
def explained(what: str, path: Path, num_bytes: int | None = None) -> Iterator[None]:
    """An OSError inside becomes a CheckpointError. `what` is the deed, such as "written"."""
    try:
        yield
    except OSError as error:
        raise explanation(error, what, path, num_bytes) from error


def explanation(error: OSError, what: str, path: Path, num_bytes: int | None = None) -> CheckpointError:
    """The sentence about `error` for the one who wants `path`. Raise it `from error`."""
    size = "" if num_bytes is None else f" ({num_bytes:,} bytes)"
    said = error.strerror or str(error)
    return CheckpointError(f"{os.fspath(path)!r}{size} could not be {what}: {said}. {_remedy(error, path)}")


def is_full(error: OSError) -> bool:
    """Whether there was no room: on the disk, in the quota, or within the limit on one file."""
    return error.errno in (*_FULL, errno.EFBIG)


def _remedy(error: OSError, path: Path) -> str:
    folder = path.parent
    while not os.path.exists(folder) and folder != folder.parent:
        folder = folder.parent
    place = repr(os.fspath(folder))
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return (
                f"{place} has {_free(folder)} bytes free, and a quota may allow less. Delete what is not needed there, "
                f"keep fewer checkpoints, or choose a folder on another disk."
            )
        case errno.EFBIG:
            return "A file may not be that large here. Raise the limit (ulimit -f), or choose a folder on another disk."
        case errno.EROFS:
            return f"{place} is mounted read-only. Mount it writable, or choose another folder."
        case errno.EACCES | errno.EPERM:
            return (
                f"Give this user (uid {os.getuid()}) the right to read and write in {place}, or choose another folder."
            )
        case errno.ENOTDIR | errno.EEXIST | errno.EISDIR:
            return "It, or a folder on the way to it, exists and is of another kind. Move that away, or choose another."
        case errno.ENAMETOOLONG:
            return "Choose a shorter name."
    return f"See whether the disk of {place} is in order, and whether others delete there, or choose another folder."


def _free(folder: Path) -> str:
    try:
        return f"{shutil.disk_usage(folder).free:,}"
    except OSError:  # we are explaining another error already
        return "an unknown number of"
