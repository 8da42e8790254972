"""Reading a checkpoint: all checksums are verified before a value is returned."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from safetensors.numpy import load_file

from unisono._src.state.store._dtypes import Array, from_safetensors
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

_MOST_TRIES = 10


@dataclass(frozen=True, eq=False)
class LoadedCheckpoint:
    """The content of a checkpoint, read from its folder."""

    folder: Path
    step: int
    arrays: dict[str, Array]
    """In the order in which they were given to `commit`. They are writable copies."""
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
            loaded = _read(folder)
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


def _read(folder: Path) -> LoadedCheckpoint:
    manifest = verify(folder)
    try:
        state = loads(read_all(folder, STATE))
    except ValueError as error:
        raise BadCheckpoint(folder, f"{STATE} is not as Unisono writes it: {error}.") from error
    return LoadedCheckpoint(folder, manifest.step, _arrays(folder, manifest), state, manifest.info, manifest.written)


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


def _arrays(folder: Path, manifest: Manifest) -> dict[str, Array]:
    try:
        stored = load_file(folder / ARRAYS)
        if stored.keys() != manifest.arrays.keys():
            raise ValueError(f"its arrays differ from those that {MANIFEST} lists")
        return {
            name: from_safetensors(stored[name], entry.dtype, entry.shape) for name, entry in manifest.arrays.items()
        }
    except MemoryError:
        raise
    except Exception as error:  # the library raises many kinds, and all mean that the file is not what it should be
        raise BadCheckpoint(folder, f"{ARRAYS} is not as Unisono writes it: {error}.") from error


def _was_replaced(folder: Path, fd: int) -> bool:
    try:
        return not os.path.samestat(os.stat(folder), os.fstat(fd))
    except OSError:  # deleted: what was read is of one checkpoint
        return False
