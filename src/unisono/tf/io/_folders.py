"""The functions of `tf.io.gfile`, for local files and folders."""

from __future__ import annotations

import glob as globbing
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unisono.tf import errors
from unisono.tf._paths import to_local_path, translate_os_errors


@dataclass(frozen=True)
class FileStatistics:
    """The size and modification time of a file.

    Attributes:
        length: the size in bytes.
        mtime_nsec: the modification time, in nanoseconds since 1970.
        is_directory: whether it is a folder.
    """

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Any) -> bool:
    """Whether a file or a folder exists."""
    return os.path.exists(to_local_path(path, "tf.io.gfile.exists"))


def isdir(path: Any) -> bool:
    """Whether the path is a folder."""
    return os.path.isdir(to_local_path(path, "tf.io.gfile.isdir"))


def listdir(path: Any) -> list[str]:
    """The sorted names in a folder."""
    local = to_local_path(path, "tf.io.gfile.listdir")
    if not os.path.isdir(local):
        raise errors.NotFoundError(None, None, f"Could not find directory {local}")
    return sorted(os.listdir(local))


def glob(pattern: Any) -> list[str]:
    """The sorted paths that match a pattern, for each of several."""
    patterns = pattern if isinstance(pattern, list | tuple) else [pattern]
    names = [to_local_path(each, "tf.io.gfile.glob") for each in patterns]
    return [path for local in names for path in sorted(globbing.glob(local))]


def mkdir(path: Any) -> None:
    """Creates a folder in an existing one."""
    local = to_local_path(path, "tf.io.gfile.mkdir")
    with translate_os_errors(local):
        os.makedirs(local, exist_ok=True) if os.path.isdir(local) else os.mkdir(local)


def makedirs(path: Any) -> None:
    """Creates a folder and missing parents."""
    local = to_local_path(path, "tf.io.gfile.makedirs")
    with translate_os_errors(local):
        os.makedirs(local, exist_ok=True)


def remove(path: Any) -> None:
    """Deletes a file."""
    local = to_local_path(path, "tf.io.gfile.remove")
    with translate_os_errors(local):
        if os.path.isdir(local) and not os.path.islink(local):
            raise IsADirectoryError(0, "Is a directory: use tf.io.gfile.rmtree")
        os.remove(local)


def rmtree(path: Any) -> None:
    """Deletes a folder and its contents."""
    local = to_local_path(path, "tf.io.gfile.rmtree")
    with translate_os_errors(local):
        shutil.rmtree(local)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Renames a file or a folder."""
    old, new = (to_local_path(path, "tf.io.gfile.rename") for path in (src, dst))
    with translate_os_errors(old):
        _check_overwrite(new, overwrite)
        os.replace(old, new)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file."""
    old, new = (to_local_path(path, "tf.io.gfile.copy") for path in (src, dst))
    with translate_os_errors(old):
        _check_overwrite(new, overwrite)
        shutil.copyfile(old, new)


def stat(path: Any) -> FileStatistics:
    """The size and modification time of a file or a folder."""
    local = to_local_path(path, "tf.io.gfile.stat")
    with translate_os_errors(local):
        found = os.stat(local)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(local))


def walk(top: Any, topdown: bool = True, onerror: Any = None) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields for each folder below ``top`` its path, the names of its folders, and of its files."""
    yield from os.walk(to_local_path(top, "tf.io.gfile.walk"), topdown, onerror)


def join(path: Any, *paths: Any) -> str:
    """Joins paths."""
    return os.path.join(*[to_local_path(each, "tf.io.gfile.join") for each in (path, *paths)])


def get_registered_schemes() -> list[str]:
    """The supported schemes: local paths only."""
    return ["", "file"]


def _check_overwrite(local: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(local):
        raise errors.AlreadyExistsError(None, None, f"{local}; File exists. Pass overwrite=True to replace it.")
