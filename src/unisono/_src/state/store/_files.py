"""The files of one folder, written one by one: on a disk, or in a store that fsspec reaches."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, final

from unisono._src.state.store._durable import sync_file, sync_folder, write_file
from unisono._src.state.store._location import Location
from unisono._src.state.store._remote_path import RemotePath, map_concurrently

_COPY_BYTES: Final = 8 << 20


class Files(ABC):
    """The files of one folder, by name. What is written is durable when the method returns."""

    @abstractmethod
    def make(self) -> None:
        """Makes the folder."""

    @abstractmethod
    def new_file(self, name: str) -> AbstractContextManager[Path]:
        """A path of this machine to write a new file to; the file is in the folder at the end of the block."""

    @abstractmethod
    def write(self, name: str, data: bytes) -> None:
        """Writes a new file."""

    @abstractmethod
    def replace(self, name: str, data: bytes, *, durable: bool = True) -> None:
        """Writes a file that may exist. Readers see the old content or the new one, where the storage can do that."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """The content of a file; FileNotFoundError if there is none."""

    @abstractmethod
    def size(self, name: str) -> int | None:
        """The size of a file; None if there is none."""

    @abstractmethod
    def existing(self, names: Iterable[str]) -> set[str]:
        """Those of these files that are there."""

    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """The size of every file in the folder and below, by its path in it."""

    @abstractmethod
    def delete(self, names: Iterable[str]) -> None:
        """Deletes files, and folders that are empty then, the folder itself too."""

    @abstractmethod
    def sync(self) -> None:
        """The names in the folder are durable when this returns."""


@final
class LocalFiles(Files):
    """Files on a disk, or on what is mounted like one.

    Args:
        folder: their folder.
        in_order: whether new files are written from their beginning to their end and nothing else is done with them, as
            mounts of buckets need it. safetensors writes at offsets, and renames.
    """

    def __init__(self, folder: Path, *, in_order: bool = False) -> None:
        self._folder, self._in_order = folder, in_order

    def make(self) -> None:
        self._folder.mkdir(exist_ok=True)

    @contextlib.contextmanager
    def new_file(self, name: str) -> Iterator[Path]:
        path = self._folder / name
        if self._in_order:
            with _temporary_file(name) as temporary:
                yield temporary
                with open(temporary, "rb") as source, open(path, "xb") as target:
                    shutil.copyfileobj(source, target, _COPY_BYTES)
                    target.flush()
                    os.fsync(target.fileno())
        else:
            yield path
            # safetensors makes a file readable for this user alone. It gets the permissions of the folder.
            os.chmod(path, os.stat(self._folder).st_mode & 0o666)
            sync_file(path)

    def write(self, name: str, data: bytes) -> None:
        write_file(self._folder / name, data)

    def replace(self, name: str, data: bytes, *, durable: bool = True) -> None:
        path, temporary = self._folder / name, self._folder / f"{name}.new"
        _write_over(temporary, data, durable)
        try:
            os.replace(temporary, path)
        except OSError:
            # Bucket mounts that cannot rename a file either: there a file gets its content when it is closed.
            _write_over(path, data, durable)
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if durable:
            sync_folder(self._folder)

    def read(self, name: str) -> bytes:
        return (self._folder / name).read_bytes()

    def size(self, name: str) -> int | None:
        try:
            return (self._folder / name).stat().st_size
        except FileNotFoundError:
            return None

    def existing(self, names: Iterable[str]) -> set[str]:
        return {name for name in names if (self._folder / name).exists()}

    def sizes(self) -> dict[str, int]:
        found = {}
        for folder, folders, names in os.walk(self._folder):
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            for path in (os.path.join(folder, name) for name in (*names, *links)):
                with contextlib.suppress(FileNotFoundError):
                    found[os.path.relpath(path, self._folder)] = os.lstat(path).st_size
        return found

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._folder / name)
        for folder, _, _ in os.walk(self._folder, topdown=False):
            with contextlib.suppress(OSError):  # it is not empty, or is gone already
                os.rmdir(folder)

    def sync(self) -> None:
        sync_folder(self._folder)


@final
class RemoteFiles(Files):
    """Files in a store: each one is a name and a content, and is written at once."""

    def __init__(self, folder: RemotePath) -> None:
        self._folder = folder

    def make(self) -> None:
        """Nothing is there before the first file is."""

    @contextlib.contextmanager
    def new_file(self, name: str) -> Iterator[Path]:
        with _temporary_file(name) as path:
            yield path
            (self._folder / name).upload(path)

    def write(self, name: str, data: bytes) -> None:
        (self._folder / name).write(data)

    def replace(self, name: str, data: bytes, *, durable: bool = True) -> None:
        (self._folder / name).write(data)

    def read(self, name: str) -> bytes:
        return (self._folder / name).read()

    def size(self, name: str) -> int | None:
        return (self._folder / name).size()

    def existing(self, names: Iterable[str]) -> set[str]:
        return set(names) & {name for name, size in self._folder.names().items() if size is not None}

    def sizes(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for name, size in self._folder.names().items():
            if size is None:
                below = RemoteFiles(self._folder / name).sizes()
                found.update({f"{name}/{each}": number for each, number in below.items()})
            else:
                found[name] = size
        return found

    def delete(self, names: Iterable[str]) -> None:
        map_concurrently(lambda name: (self._folder / name).delete(), names)

    def sync(self) -> None:
        """Every file is stored when it is written."""


def files_in(folder: Location, *, in_order: bool = False) -> Files:
    """The files of ``folder``."""
    return RemoteFiles(folder) if isinstance(folder, RemotePath) else LocalFiles(folder, in_order=in_order)


@contextlib.contextmanager
def _temporary_file(name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="unisono-") as folder:
        yield Path(folder) / name


def _write_over(path: Path, data: bytes, durable: bool) -> None:
    with open(path, "wb") as file:
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())
