"""Files and names that survive a power failure."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import sys
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def write_file(path: Path, data: bytes) -> None:
    """A new file, on the disk when this returns."""
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_file(path: Path) -> None:
    """What was written to the file before is on the disk when this returns."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_folder(path: Path) -> None:
    """The names in the folder are on the disk when this returns."""
    try:
        sync_file(path)
    except OSError as error:
        # Some network file systems sync names at once and refuse to do it on request.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise


def make_folders(path: Path) -> None:
    """Makes `path` and the folders that are missing above it."""
    if path.is_dir():
        return
    make_folders(path.parent)
    path.mkdir(exist_ok=True)
    sync_folder(path.parent)


def hash_file(path: Path) -> str:
    """The SHA-256 of a file, which is read in pieces."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def swap_names(one: Path, other: Path) -> bool:
    """Swaps two names atomically. False where the system or the file system cannot do it."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        return False
    if not libc.renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE):
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), os.fspath(one), None, os.fspath(other))
