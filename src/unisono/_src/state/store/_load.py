"""Reading a checkpoint: all checksums are verified before a value is returned."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open

from unisono._src.state.store._errors import BadCheckpoint
from unisono._src.state.store._files import files_in
from unisono._src.state.store._json import JSON, loads
from unisono._src.state.store._location import Location, is_url, to_location
from unisono._src.state.store._manifest import (
    ARRAYS,
    MANIFEST,
    STATE,
    Manifest,
    open_file,
    read_all,
    read_manifest,
)
from unisono._src.state.store._remote_load import download, open_remote_arrays, read_remote_state
from unisono._src.state.store._remote_path import RemotePath
from unisono._src.state.store._staging import clear_stale
from unisono._src.state.store._stored_array import StoredArray, stored_arrays

_MAX_TRIES = 10

REPLACED = f"it was replaced {_MAX_TRIES} times while it was being read. Try again."


@dataclass(frozen=True, eq=False)
class LoadedCheckpoint:
    """The content of a checkpoint, read from its folder."""

    folder: Location
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


def load(folder: str | os.PathLike[str] | RemotePath) -> LoadedCheckpoint:
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


def open_checkpoint(folder: str | os.PathLike[str] | RemotePath, *, verified: bool = False) -> LoadedCheckpoint:
    """The same checkpoint, whose arrays are read only when they are used. The files may be deleted meanwhile.

    ``verified``: another process has verified the checksums of these files (see `identify_files`). In a store only what
    is used is then read, if several processes wrote it; the files must stay for that.

    >>> import tempfile
    >>> import numpy as np
    >>> from unisono._src.state.store import commit
    >>> folder = Path(tempfile.mkdtemp()) / "ckpt" / "step-5"
    >>> commit(folder, arrays={"table": np.arange(6).reshape(3, 2)}, step=5)
    >>> open_checkpoint(folder).arrays["table"].read([slice(1, 2)])
    array([[2, 3]])
    """
    location = to_location(folder)
    if isinstance(location, RemotePath):
        return _open_remote(location, verified)
    if not is_url(folder) and not isinstance(folder, RemotePath):
        location = Path(folder)  # as the caller has it, in errors
    if not is_committed(location):
        clear_stale(Path(os.path.abspath(location)).parent)  # a writer may have been killed within a replacement
    return _open_local(location, verified)


def _open_local(folder: Path, verified: bool) -> LoadedCheckpoint:
    for _ in range(_MAX_TRIES):
        manifest = None
        try:
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise BadCheckpoint(folder, "there is no such folder.") from None
        except OSError as error:
            raise BadCheckpoint(folder, f"it cannot be opened: {error.strerror}.") from error
        try:
            manifest = read_manifest(folder)
            loaded = _read(folder, manifest, verified)
        except BadCheckpoint:
            if not _was_replaced(folder, fd) and not _has_other_manifest(folder, manifest):
                raise
        else:
            # Else another job may have replaced it after half of the old one was read.
            if not _was_replaced(folder, fd):
                return loaded
        finally:
            os.close(fd)
    raise BadCheckpoint(folder, REPLACED)


def _open_remote(folder: RemotePath, verified: bool) -> LoadedCheckpoint:
    for _ in range(_MAX_TRIES):
        manifest = read_manifest(folder)
        try:
            if verified and not manifest.is_single_file:
                state, arrays = read_remote_state(folder, manifest), open_remote_arrays(folder, manifest)
                return _loaded(folder, manifest, state, arrays)
            # On a disk it is the same as any other, and the same checks hold. Open files outlive the folder.
            with tempfile.TemporaryDirectory(prefix="unisono-") as copy:
                download(folder, manifest, Path(copy))
                loaded = _read(Path(copy), replace(manifest, data=""), verified=False)
                return replace(loaded, folder=folder)
        except BadCheckpoint as error:
            if not _has_other_manifest(folder, manifest):
                raise BadCheckpoint(folder, error.reason) from error
    raise BadCheckpoint(folder, REPLACED)


def is_committed(folder: str | os.PathLike[str] | RemotePath) -> bool:
    """Whether there is a manifest, the file that is written last. Damage is not looked for: `load` finds that.

    >>> is_committed("ckpt/step-0")
    False
    """
    location = to_location(folder)
    if isinstance(location, RemotePath):
        return (location / MANIFEST).size() is not None
    try:
        return stat.S_ISREG(os.lstat(location / MANIFEST).st_mode)
    except OSError as error:
        # One that cannot be examined counts, so that it is not skipped silently: `load` says what is wrong with it.
        return error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


def verify(folder: Path) -> Manifest:
    """The manifest of a checkpoint whose checksums are right; otherwise BadCheckpoint."""
    manifest = read_manifest(folder)
    _verify(folder, manifest)
    return manifest


def looks_complete(folder: Location) -> bool:
    """Whether the manifest is right and the files have their sizes: a check that does not read them."""
    try:
        manifest = read_manifest(folder)
        if isinstance(folder, RemotePath):
            sizes = files_in(folder / manifest.data).sizes()
            return all(sizes.get(name) == entry.bytes for name, entry in manifest.files.items())
        for name, entry in manifest.files.items():
            with open(open_file(folder, manifest.path_of(name)), "rb") as file:
                if os.fstat(file.fileno()).st_size != entry.bytes:
                    return False
    except BadCheckpoint:
        return False
    return True


def identify_files(folder: Location) -> JSON:
    """What tells the files of a checkpoint from others of the same content: two processes that get the same are in the
    same folder of the same disk. BadCheckpoint if one is missing."""
    manifest = read_manifest(folder)
    if isinstance(folder, RemotePath) or manifest.data:
        # Files of a bucket have no numbers, or other ones on each machine. The manifest has a name drawn at random.
        if not looks_complete(folder):
            raise BadCheckpoint(folder, "its files do not have the sizes that the manifest lists.")
        return hashlib.sha256(manifest.to_bytes()).hexdigest()
    found = []
    for name in (MANIFEST, *map(manifest.path_of, manifest.files)):
        with open(open_file(folder, name), "rb") as file:
            status = os.fstat(file.fileno())
            found.append([status.st_ino, status.st_size, status.st_mtime_ns])
    return found


def _read(folder: Path, manifest: Manifest, verified: bool) -> LoadedCheckpoint:
    if manifest.data and (folder / manifest.data).is_symlink():
        raise BadCheckpoint(folder, f"{manifest.data} is a link, where a folder is expected.")
    if not verified:
        _verify(folder, manifest)
    try:
        state = loads(read_all(folder, manifest.path_of(STATE)))
    except ValueError as error:
        raise BadCheckpoint(folder, f"{STATE} is not as Unisono writes it: {error}.") from error
    with _bad_arrays(folder):
        files = [safe_open(folder / manifest.path_of(name), framework="np") for name in manifest.array_files]
        return _loaded(folder, manifest, state, stored_arrays(manifest, files))


def _loaded(folder: Location, manifest: Manifest, state: JSON, arrays: dict[str, StoredArray]) -> LoadedCheckpoint:
    return LoadedCheckpoint(folder, manifest.step, arrays, state, manifest.info, manifest.written)


def _verify(folder: Path, manifest: Manifest) -> None:
    for name, entry in manifest.files.items():
        with open(open_file(folder, manifest.path_of(name)), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size != entry.bytes:
                raise BadCheckpoint(folder, f"{name} is damaged: it has {size:,} bytes, expected {entry.bytes:,}.")
            try:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise BadCheckpoint(folder, f"{name} cannot be read: {error.strerror}.") from error
            if found != entry.sha256:
                raise BadCheckpoint(folder, f"{name} is damaged: it does not have its checksum.")


@contextlib.contextmanager
def _bad_arrays(folder: Location) -> Iterator[None]:
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


def _has_other_manifest(folder: Location, manifest: Manifest | None) -> bool:
    """Whether it was replaced by another, which may be in the same folder."""
    try:
        return manifest is not None and read_manifest(folder) != manifest
    except BadCheckpoint:  # deleted: what is wrong with it is no longer of interest
        return False
