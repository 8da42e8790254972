"""The functions of `tf.io.gfile`, for local files and folders."""

from __future__ import annotations

import glob as globbing
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unisono.tf import errors
from unisono.tf._paths import to_local_path
from unisono.tf.io._errors import translated


@dataclass(frozen=True)
class FileStatistics:
    """What is known of a file.

    Attributes:
        length: how many bytes it has.
        mtime_nsec: when it was written, in nanoseconds since 1970.
        is_directory: whether it is a folder.
    """

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Any) -> bool:
    """Whether there is a file or a folder of this name."""
    return os.path.exists(to_local_path(path, "tf.io.gfile.exists"))


def isdir(path: Any) -> bool:
    """Whether there is a folder of this name."""
    return os.path.isdir(to_local_path(path, "tf.io.gfile.isdir"))


def listdir(path: Any) -> list[str]:
    """The names in a folder."""
    name = to_local_path(path, "tf.io.gfile.listdir")
    if not os.path.isdir(name):
        raise errors.NotFoundError(None, None, f"Could not find directory {name}")
    return sorted(os.listdir(name))


def glob(pattern: Any) -> list[str]:
    """The paths that fit a pattern, or one of several, in order."""
    patterns = pattern if isinstance(pattern, list | tuple) else [pattern]
    names = [to_local_path(each, "tf.io.gfile.glob") for each in patterns]
    return [path for name in names for path in sorted(globbing.glob(name))]


def mkdir(path: Any) -> None:
    """Makes a folder in one that is there."""
    name = to_local_path(path, "tf.io.gfile.mkdir")
    with translated(name):
        os.makedirs(name, exist_ok=True) if os.path.isdir(name) else os.mkdir(name)


def makedirs(path: Any) -> None:
    """Makes a folder and those above it, as far as they are not there."""
    name = to_local_path(path, "tf.io.gfile.makedirs")
    with translated(name):
        os.makedirs(name, exist_ok=True)


def remove(path: Any) -> None:
    """Deletes a file."""
    name = to_local_path(path, "tf.io.gfile.remove")
    with translated(name):
        if os.path.isdir(name) and not os.path.islink(name):
            raise IsADirectoryError(0, "Is a directory: use tf.io.gfile.rmtree")
        os.remove(name)


def rmtree(path: Any) -> None:
    """Deletes a folder and all that is in it."""
    name = to_local_path(path, "tf.io.gfile.rmtree")
    with translated(name):
        shutil.rmtree(name)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Gives a file or a folder another name."""
    old, new = (to_local_path(path, "tf.io.gfile.rename") for path in (src, dst))
    with translated(old):
        _refuse(new, overwrite)
        os.replace(old, new)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file."""
    old, new = (to_local_path(path, "tf.io.gfile.copy") for path in (src, dst))
    with translated(old):
        _refuse(new, overwrite)
        shutil.copyfile(old, new)


def stat(path: Any) -> FileStatistics:
    """What is known of a file or a folder."""
    name = to_local_path(path, "tf.io.gfile.stat")
    with translated(name):
        found = os.stat(name)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(name))


def walk(top: Any, topdown: bool = True, onerror: Any = None) -> Iterator[tuple[str, list[str], list[str]]]:
    """All folders below one: the path, the names of the folders in it, and those of the files."""
    yield from os.walk(to_local_path(top, "tf.io.gfile.walk"), topdown, onerror)


def join(path: Any, *paths: Any) -> str:
    """The path of something inside of a folder."""
    return os.path.join(*[to_local_path(each, "tf.io.gfile.join") for each in (path, *paths)])


def get_registered_schemes() -> list[str]:
    """Which addresses can be used: local ones."""
    return ["", "file"]


def _refuse(name: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(name):
        raise errors.AlreadyExistsError(None, None, f"{name}; File exists. Pass overwrite=True to replace it.")
