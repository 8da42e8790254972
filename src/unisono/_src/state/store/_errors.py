"""The errors of this package, and OS errors explained: what failed, why, and what to do."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unisono._src.state.store._location import Location

_FULL = (errno.ENOSPC, errno.EDQUOT)


class CheckpointError(Exception):
    """Files of a checkpoint cannot be written, read or deleted. The message says which, why, and what to do."""


class BadCheckpoint(CheckpointError):  # noqa: N818 (`except BadCheckpoint` reads better)
    """A folder that is not a usable checkpoint: damaged, incomplete, unreadable, or of a newer Unisono.

    >>> print(BadCheckpoint(Path("ckpt/step-5"), "state.json is missing."))
    The checkpoint 'ckpt/step-5' cannot be used: state.json is missing.
    """

    def __init__(self, folder: Location, reason: str) -> None:
        super().__init__(folder, reason)  # both, so that the exception can be copied
        self.folder = folder
        self.reason = reason

    def __str__(self) -> str:
        return f"The checkpoint {str(self.folder)!r} cannot be used: {self.reason}"


@contextlib.contextmanager
def explain_os_errors(what: str, path: Location, num_bytes: int | None = None) -> Iterator[None]:
    """An OSError inside the block becomes a CheckpointError. `what` was to happen, such as "written"."""
    try:
        yield
    except OSError as error:
        raise explain_os_error(error, what, path, num_bytes) from error


def explain_os_error(error: OSError, what: str, path: Location, num_bytes: int | None = None) -> CheckpointError:
    """The CheckpointError that explains why `path` could not be `what`. Raise it `from error`."""
    size = "" if num_bytes is None else f" ({num_bytes:,} bytes)"
    reason = error.strerror or str(error)
    return CheckpointError(f"{str(path)!r}{size} could not be {what}: {reason}. {_remedy(error, path)}")


def is_full(error: OSError) -> bool:
    """Whether there was no room: on the disk, in the quota, or within the limit on one file."""
    return error.errno in (*_FULL, errno.EFBIG)


def _remedy(error: OSError, path: Location) -> str:
    if not isinstance(path, Path):
        temporary = tempfile.gettempdir()
        if is_full(error):
            return (
                f"Files on their way are in {temporary!r}, which has {_free(Path(temporary))} bytes free. "
                f"Set TMPDIR to a folder with more room."
            )
        path = Path(temporary) / "file"
    folder = path.parent
    while not os.path.exists(folder) and folder != folder.parent:
        folder = folder.parent
    quoted = repr(os.fspath(folder))
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return (
                f"{quoted} has {_free(folder)} bytes free, and a quota may allow less. Delete what is not needed, "
                f"keep fewer checkpoints, or choose a folder on another disk."
            )
        case errno.EFBIG:
            return "A file may not be that large here. Raise the limit (ulimit -f), or choose a folder on another disk."
        case errno.EROFS:
            return f"{quoted} is mounted read-only. Mount it writable, or choose another folder."
        case errno.EACCES | errno.EPERM:
            return (
                f"Give this user (uid {os.getuid()}) the right to read and write in {quoted}, or choose another folder."
            )
        case errno.ENOTDIR | errno.EEXIST | errno.EISDIR:
            return "It, or a folder above it, exists and is of another kind. Move that away, or choose another."
        case errno.ENAMETOOLONG:
            return "Choose a shorter name."
    return f"Check whether the disk of {quoted} works, and whether another job deletes there, or choose another folder."


def _free(folder: Path) -> str:
    try:
        return f"{shutil.disk_usage(folder).free:,}"
    except OSError:  # this is already the explanation of an error
        return "an unknown number of"
