"""Where things stand before they have their name, and after they have lost it: never among those that users list.

For a folder `runs/ckpt` that is `runs/.ckpt.unisono-staging`, or, where that is on another disk or may not be written,
the hidden `runs/ckpt/.unisono-staging`. Each job there has a folder of its own and a lock file beside it. The system
takes the lock away from a process that dies, so a lock that can be had says that nobody works there any more. On file
systems without locks nothing looks abandoned, and leftovers stay.
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
_MOST_TRIES = 100
_NOT_THERE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG)


@contextlib.contextmanager
def staging(folder: Path, *, inside: bool = False) -> Iterator[Path]:
    """An empty folder to rename things from or to, on the disk of `folder`. It is deleted at the end.

    A rename may be refused all the same (EXDEV), where one disk is mounted twice or has a quota for each folder. With
    `inside` the place is within `folder`, and only what an overlay file system keeps elsewhere cannot be moved.
    """
    entry = _new_entry(_inside(folder)) if inside else _entry_for(folder)
    try:
        yield entry.path
    finally:
        entry.delete()


def replace_in_two_moves(new: Path, folder: Path) -> None:
    """`new`, a complete folder in a staging place, gets the name of another, which goes to the staging place.

    Killed between the two moves, neither has the name. `clear_stale` makes up for it.
    """
    old = new.with_name(f"{new.name}{_OLD}")
    os.rename(folder, old)
    try:
        os.rename(new, folder)
    except OSError:
        os.rename(old, folder)
        raise


def clear_stale(folder: Path) -> None:
    """Deletes what writers into `folder` left behind when they were killed, and ends the second move of two."""
    for root in (_outside(folder), _inside(folder)):
        for name in _names(root):
            abandoned = _abandoned(root / name) if _LOCK_NAME.fullmatch(name) else None
            if abandoned is not None:
                _end_second_move(abandoned.path, folder)
                abandoned.delete()
        _remove_if_empty(root)


@dataclass(frozen=True)
class _Entry:
    """A folder in a staging place that is ours as long as the lock is held."""

    path: Path
    lock: int

    def delete(self) -> None:
        try:
            # What cannot be deleted keeps its lock file: it is abandoned from now on, and the next commit tries again.
            shutil.rmtree(self.path, ignore_errors=True)
            if not os.path.lexists(self.path):
                with contextlib.suppress(OSError):
                    os.unlink(_lock_of(self.path))
        finally:
            os.close(self.lock)
        _remove_if_empty(self.path.parent)


def _entry_for(folder: Path) -> _Entry:
    if folder.name and os.stat(folder).st_dev == os.stat(folder.parent).st_dev:
        try:
            return _new_entry(_outside(folder))
        except OSError as error:
            if error.errno not in _NOT_THERE:
                raise
    return _new_entry(_inside(folder))


def _new_entry(root: Path) -> _Entry:
    for _ in range(_MOST_TRIES):
        with contextlib.suppress(FileExistsError):
            os.mkdir(root)
        path = root / secrets.token_hex(8)
        try:
            if not stat.S_ISDIR(os.lstat(root).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), os.fspath(root))
            lock = os.open(_lock_of(path), os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:  # somebody found the place empty and removed it
            continue
        try:
            if _lock(lock) is not False and _is_file(_lock_of(path), lock):
                os.mkdir(path)
                return _Entry(path, lock)
        except BaseException:
            _Entry(path, lock).delete()
            raise
        os.close(lock)  # somebody took it for abandoned before we had locked it
    raise OSError(errno.EAGAIN, f"others removed the folder {os.fspath(root)!r} {_MOST_TRIES} times")


def _end_second_move(entry: Path, folder: Path) -> None:
    for old in _names(entry):
        name = old.removesuffix(_OLD)
        if old.endswith(_OLD) and not os.path.lexists(folder / name):
            with contextlib.suppress(OSError):  # what may not be written here is not ours to mend
                os.rename(entry / name, folder / name)


def _abandoned(lock_path: Path) -> _Entry | None:
    try:
        lock = os.open(lock_path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # gone meanwhile, or another user's
        return None
    if _lock(lock):
        return _Entry(lock_path.with_suffix(""), lock)
    os.close(lock)
    return None


def _lock(fd: int) -> bool | None:
    """True: we have it. False: another has. None: there are no locks here."""
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


def _names(root: Path) -> list[str]:
    try:
        return os.listdir(root) if stat.S_ISDIR(os.lstat(root).st_mode) else []
    except OSError:  # most often there is none; one that may not be read is another user's
        return []


def _remove_if_empty(root: Path) -> None:
    with contextlib.suppress(OSError):  # there is none, or others are at work in it
        os.rmdir(root)


def _lock_of(entry: Path) -> Path:
    return entry.with_name(f"{entry.name}.lock")


def _outside(folder: Path) -> Path:
    return folder.parent / f".{folder.name}.unisono-staging"


def _inside(folder: Path) -> Path:
    return folder / ".unisono-staging"
