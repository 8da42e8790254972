"""Staging folders: where folders and files are before they get their name, and after they lose it.

They are never among the folders that users list: for `runs/ckpt` the staging root is `runs/.ckpt.unisono-staging`, or,
where that is on another disk or not writable, the hidden `runs/ckpt/.unisono-staging`. Each job has its own folder in
it and a lock file beside that. The system releases the lock of a process that dies, so a lock that is free marks an
abandoned folder. On file systems without locks nothing looks abandoned, and leftovers stay.

The parent may be a folder like /tmp, where any user can make the staging root. One that users can write to who cannot
write to the folder is not used: what is in it may get a name in the folder.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LOCK_NAME = re.compile(r"[0-9a-f]{16}\.lock")
_OLD = ".unisono-old"
_MAX_TRIES = 100
_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG)


@contextlib.contextmanager
def staging_folder(folder: Path, *, inside: bool = False) -> Iterator[Path]:
    """An empty folder to rename from or to, on the disk of `folder`. It is deleted at the end.

    A rename may still be refused (EXDEV), where one disk is mounted twice or has a quota for each folder. With `inside`
    it is within `folder`, and only what an overlay file system stores elsewhere cannot be moved.
    """
    staged = _make_staging_folder(_inside_root(folder), folder) if inside else _make_staging_folder_for(folder)
    try:
        yield staged.path
    finally:
        staged.delete()


def replace_in_two_moves(new: Path, folder: Path) -> None:
    """Renames `new`, a complete folder in a staging folder, to `folder`, whose old content goes to the staging folder.

    Killed between the two moves, neither has the name. `clear_stale` then does the second move.
    """
    old = new.with_name(f"{new.name}{_OLD}")
    os.rename(folder, old)
    try:
        os.rename(new, folder)
    except OSError:
        os.rename(old, folder)
        raise


def clear_stale(folder: Path) -> None:
    """Deletes what killed writers into `folder` left behind, and does the second of two moves if one was missing."""
    for root in (_outside_root(folder), _inside_root(folder)):
        for name in _protected_names(root, folder):
            abandoned = _take_abandoned(root / name) if _LOCK_NAME.fullmatch(name) else None
            if abandoned is not None:
                _do_second_move(abandoned.path, folder)
                abandoned.delete()
        _remove_if_empty(root)


@dataclass(frozen=True)
class _StagingFolder:
    """A folder in a staging root that belongs to this process as long as the lock is held."""

    path: Path
    lock: int

    def delete(self) -> None:
        try:
            # What cannot be deleted keeps its lock file: it is abandoned from now on, and the next commit tries again.
            shutil.rmtree(self.path, ignore_errors=True)
            if not os.path.lexists(self.path):
                with contextlib.suppress(OSError):
                    os.unlink(_lock_path(self.path))
        finally:
            os.close(self.lock)
        _remove_if_empty(self.path.parent)


def _make_staging_folder_for(folder: Path) -> _StagingFolder:
    if folder.name and os.stat(folder).st_dev == os.stat(folder.parent).st_dev:
        try:
            return _make_staging_folder(_outside_root(folder), folder)
        except OSError as error:
            if error.errno not in _NOT_WRITABLE:
                raise
    return _make_staging_folder(_inside_root(folder), folder)


def _make_staging_folder(root: Path, folder: Path) -> _StagingFolder:
    for _ in range(_MAX_TRIES):
        with contextlib.suppress(FileExistsError):
            os.mkdir(root, 0o700 | stat.S_IMODE(os.stat(folder).st_mode))
        path = root / secrets.token_hex(8)
        try:
            if not stat.S_ISDIR(os.lstat(root).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), os.fspath(root))
            if not _is_protected(root, folder):
                _remove_if_empty(root)
                raise PermissionError(errno.EPERM, "other users can write to it", os.fspath(root))
            lock = os.open(_lock_path(path), os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:  # another process found the root empty and removed it
            continue
        try:
            if _try_lock(lock) is not False and _is_file(_lock_path(path), lock):
                os.mkdir(path)
                return _StagingFolder(path, lock)
        except BaseException:
            _StagingFolder(path, lock).delete()
            raise
        os.close(lock)  # another process took it for abandoned before it was locked
    raise OSError(errno.EAGAIN, f"other processes removed the folder {os.fspath(root)!r} {_MAX_TRIES} times")


def _is_protected(root: Path, folder: Path) -> bool:
    """Whether nobody can write to the staging root who cannot write to the folder. What is inside of it is."""
    if root.parent == folder:
        return True
    ours, theirs = os.lstat(root), os.stat(folder)
    shared = ours.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    is_other_group = bool(shared & stat.S_IWGRP) and ours.st_gid != theirs.st_gid
    # Its owner: on a file server root may be nobody, also where it makes a folder itself.
    return ours.st_uid in (os.geteuid(), theirs.st_uid) and not shared & ~theirs.st_mode and not is_other_group


def _do_second_move(staged: Path, folder: Path) -> None:
    for old in _names(staged):
        name = old.removesuffix(_OLD)
        if old.endswith(_OLD) and not os.path.lexists(folder / name):
            with contextlib.suppress(OSError):  # a folder that is not writable is not repaired here
                os.rename(staged / name, folder / name)


def _take_abandoned(lock_path: Path) -> _StagingFolder | None:
    try:
        lock = os.open(lock_path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # gone meanwhile, or another user's
        return None
    if _try_lock(lock):
        return _StagingFolder(lock_path.with_suffix(""), lock)
    os.close(lock)
    return None


def _try_lock(fd: int) -> bool | None:
    """True: locked. False: another process has the lock. None: the file system has no locks."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_file(path: Path, fd: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(fd))
    except FileNotFoundError:
        return False


def _protected_names(root: Path, folder: Path) -> list[str]:
    try:
        return _names(root) if _is_protected(root, folder) else []
    except OSError:  # usually there is none
        return []


def _names(root: Path) -> list[str]:
    try:
        return os.listdir(root) if stat.S_ISDIR(os.lstat(root).st_mode) else []
    except OSError:  # usually there is none; one that is not readable is another user's
        return []


def _remove_if_empty(root: Path) -> None:
    with contextlib.suppress(OSError):  # there is none, or other jobs are using it
        os.rmdir(root)


def _lock_path(staged: Path) -> Path:
    return staged.with_name(f"{staged.name}.lock")


def _outside_root(folder: Path) -> Path:
    return folder.parent / f".{folder.name}.unisono-staging"


def _inside_root(folder: Path) -> Path:
    return folder / ".unisono-staging"
