"""A file system that shows a folder of this machine, and refuses to rename folders: what many mounts of buckets do.

python no_folder_renames.py SOURCE MOUNT
"""

from __future__ import annotations

import errno
import os
import sys
from typing import Any

import mfusepy

_STATUS = ("st_atime", "st_ctime", "st_gid", "st_mode", "st_mtime", "st_nlink", "st_size", "st_uid", "st_ino")


class NoFolderRenames(mfusepy.Operations):
    """Every other operation is done in the folder ``source``."""

    use_ns = False

    def __init__(self, source: str) -> None:
        self._source = source

    def _at(self, path: str) -> str:
        return self._source + path

    def rename(self, old: str, new: str) -> int:
        if os.path.isdir(self._at(old)):
            raise mfusepy.FuseOSError(errno.EOPNOTSUPP)
        os.rename(self._at(old), self._at(new))
        return 0

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        found = os.lstat(self._at(path))
        return {name: getattr(found, name) for name in _STATUS}

    def readdir(self, path: str, fh: int) -> list[str]:
        return [".", "..", *os.listdir(self._at(path))]

    def mkdir(self, path: str, mode: int) -> int:
        os.mkdir(self._at(path), mode)
        return 0

    def rmdir(self, path: str) -> int:
        os.rmdir(self._at(path))
        return 0

    def unlink(self, path: str) -> int:
        os.unlink(self._at(path))
        return 0

    def chmod(self, path: str, mode: int) -> int:
        os.chmod(self._at(path), mode)
        return 0

    def open(self, path: str, flags: int) -> int:
        return os.open(self._at(path), flags)

    def create(self, path: str, mode: int, fi: Any = None) -> int:
        return os.open(self._at(path), os.O_RDWR | os.O_CREAT | os.O_TRUNC, mode)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        return os.pwrite(fh, data, offset)

    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        os.truncate(self._at(path), length)
        return 0

    def fsync(self, path: str, datasync: int, fh: int) -> int:
        os.fsync(fh)
        return 0

    def flush(self, path: str, fh: int) -> int:
        return 0

    def release(self, path: str, fh: int) -> int:
        os.close(fh)
        return 0

    def utimens(self, path: str, times: Any = None) -> int:
        return 0


mfusepy.FUSE(NoFolderRenames(sys.argv[1]), sys.argv[2], foreground=True, nothreads=True)
