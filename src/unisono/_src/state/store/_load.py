"""Reading a checkpoint: all checksums are verified before a value is returned."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open

from unisono._src.state.store._errors import BadCheckpoint
from unisono._src.state.store._json import JSON, loads
from unisono._src.state.store._manifest import (
    ARRAYS,
    MANIFEST,
    STATE,
    FileEntry,
    Manifest,
    open_file,
    read_all,
    read_manifest,
)
from unisono._src.state.store._staging import clear_stale
from unisono._src.state.store._stored_array import StoredArray, stored_arrays

_MOST_TRIES = 10


@dataclass(frozen=True, eq=False)
class LoadedCheckpoint:
    """The content of a checkpoint, read from its folder."""

    folder: Path
    step: int
    arrays: dict[str, Any]
    """In the order in which they were given to `commit`. From `load` they are writable arrays, from `open_checkpoint`
    each is a `StoredArray`."""
    state: JSON
    info: dict[str, str]
    """Versions of libraries, and what the caller of `commit` added."""
    written: float
    """Seconds since 1970."""

    @property
    def number(self) -> int:
        """Its number in its series, from the folder's name."""
        return int(self.folder.name.rpartition("-")[2])


def load(folder: str | os.PathLike[str]) -> LoadedCheckpoint:
    """The checkpoint in `folder`, if every byte is as it was written; otherwise BadCheckpoint says what is not.

    >>> import tempfile
    >>> import numpy as np
    >>> from unisono._src.state.store import commit
    >>> folder = Path(tempfile.mkdtemp()) / "ckpt" / "step-5"
    >>> commit(folder, arrays={"dense/kernel": np.ones((2, 2))}, state={"epoch": 1}, step=5)
    >>> stored = load(folder)
    >>> stored.step, stored.state, stored.arrays["dense/kernel"].shape
    (5, {'epoch': 1}, (2, 2))
    """
    opened = open_checkpoint(folder)
    with _bad_arrays(opened.folder):
        return replace(opened, arrays={name: np.asarray(array) for name, array in opened.arrays.items()})


def open_checkpoint(folder: str | os.PathLike[str], *, verified: bool = False) -> LoadedCheckpoint:
    """The same checkpoint, whose arrays are read only when they are used. The files may be deleted meanwhile.

    ``verified``: another process has verified the checksums of these files (see `identify_files`).

    >>> import tempfile
    >>> import numpy as np
    >>> from unisono._src.state.store import commit
    >>> folder = Path(tempfile.mkdtemp()) / "ckpt" / "step-5"
    >>> commit(folder, arrays={"table": np.arange(6).reshape(3, 2)}, step=5)
    >>> open_checkpoint(folder).arrays["table"].read([slice(1, 2)])
    array([[2, 3]])
    """
    folder = Path(folder)
    if not is_committed(folder):
        clear_stale(
            Path(os.path.abspath(folder)).parent
        )  # a writer may have been killed half-way through a replacement
    for _ in range(_MOST_TRIES):
        try:
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise BadCheckpoint(folder, "there is no such folder.") from None
        except OSError as error:
            raise BadCheckpoint(folder, f"it cannot be opened: {error.strerror}.") from error
        try:
            loaded = _read(folder, verified)
        except BadCheckpoint:
            if not _was_replaced(folder, fd):
                raise
        else:
            # Else another job may have replaced it after half of the old one was read.
            if not _was_replaced(folder, fd):
                return loaded
        finally:
            os.close(fd)
    raise BadCheckpoint(folder, f"it was replaced {_MOST_TRIES} times while it was being read. Try again.")


def is_committed(folder: str | os.PathLike[str]) -> bool:
    """Whether there is a manifest, the file that is written last. Damage is not looked for: `load` finds that.

    >>> is_committed("ckpt/step-0")
    False
    """
    try:
        return stat.S_ISREG(os.lstat(Path(folder) / MANIFEST).st_mode)
    except OSError as error:
        # One that cannot be examined counts, so that it is not skipped silently: `load` says what is wrong with it.
        return error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


def verify(folder: Path) -> Manifest:
    """The manifest of a checkpoint whose checksums are right; otherwise BadCheckpoint."""
    manifest = read_manifest(folder)
    for name, entry in manifest.files.items():
        _verify(folder, name, entry)
    return manifest


def looks_complete(folder: Path) -> bool:
    """Whether the manifest is right and the files have their sizes: a check that does not read them."""
    try:
        for name, entry in read_manifest(folder).files.items():
            with open(open_file(folder, name), "rb") as file:
                if os.fstat(file.fileno()).st_size != entry.bytes:
                    return False
    except BadCheckpoint:
        return False
    return True


def identify_files(folder: Path) -> list[list[int]]:
    """What tells the files of a checkpoint from others of the same content: two processes that get the same are in the
    same folder of the same disk. BadCheckpoint if one is missing."""
    found = []
    for name in (MANIFEST, *read_manifest(folder).files):
        with open(open_file(folder, name), "rb") as file:
            status = os.fstat(file.fileno())
            found.append([status.st_ino, status.st_size, status.st_mtime_ns])
    return found


def _read(folder: Path, verified: bool) -> LoadedCheckpoint:
    manifest = read_manifest(folder) if verified else verify(folder)
    try:
        state = loads(read_all(folder, STATE))
    except ValueError as error:
        raise BadCheckpoint(folder, f"{STATE} is not as Unisono writes it: {error}.") from error
    return LoadedCheckpoint(
        folder, manifest.step, _open_arrays(folder, manifest), state, manifest.info, manifest.written
    )


def _verify(folder: Path, name: str, entry: FileEntry) -> None:
    with open(open_file(folder, name), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size != entry.bytes:
            raise BadCheckpoint(folder, f"{name} is damaged: it has {size:,} bytes, expected {entry.bytes:,}.")
        try:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise BadCheckpoint(folder, f"{name} cannot be read: {error.strerror}.") from error
        if found != entry.sha256:
            raise BadCheckpoint(folder, f"{name} is damaged: it does not have its checksum.")


def _open_arrays(folder: Path, manifest: Manifest) -> dict[str, StoredArray]:
    with _bad_arrays(folder):
        return stored_arrays(manifest, [safe_open(folder / name, framework="np") for name in manifest.array_files])


@contextlib.contextmanager
def _bad_arrays(folder: Path) -> Iterator[None]:
    try:
        yield
    except (MemoryError, BadCheckpoint):
        raise
    except Exception as error:  # the library raises many kinds, and all mean that the file is not what it should be
        raise BadCheckpoint(folder, f"{ARRAYS} is not as Unisono writes it: {error}.") from error


def _was_replaced(folder: Path, fd: int) -> bool:
    try:
        return not os.path.samestat(os.stat(folder), os.fstat(fd))
    except OSError:  # deleted: what was read is of one checkpoint
        return False
