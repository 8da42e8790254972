"""Writing a checkpoint."""

from __future__ import annotations

import hashlib
import operator
import os
import platform
import re
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import safetensors
from safetensors.numpy import save_file

from unisono._src.state.store._dtypes import Array, to_safetensors, to_storable
from unisono._src.state.store._durable import hash_file, make_folders
from unisono._src.state.store._errors import CheckpointError, explain_os_errors
from unisono._src.state.store._files import Files
from unisono._src.state.store._json import JSON, dumps
from unisono._src.state.store._location import Location, to_location
from unisono._src.state.store._manifest import ARRAYS, STATE, ArrayEntry, FileEntry, Manifest
from unisono._src.state.store._marked_folder import MarkedFolder
from unisono._src.state.store._pending import PendingCheckpoint
from unisono._src.state.store._remote_path import RemotePath
from unisono._src.state.store._rename_support import can_rename_folders
from unisono._src.state.store._renamed_folder import RenamedFolder
from unisono._src.state.store._replace import check_replaceable

_OS_ERROR = re.compile(r"(?:os error|code:) ?(\d+)")


def commit(
    folder: str | os.PathLike[str] | RemotePath,
    *,
    arrays: Mapping[str, Array],
    state: JSON = None,
    step: int = 0,
    info: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Writes a checkpoint. When this returns it is on the disk; until then, `folder` is what it was before.

    A checkpoint that has the name already is replaced, atomically where the file system can do that. A good one with
    the same content is left alone. Anything else of that name is refused, and nothing is written.

    >>> import tempfile
    >>> from unisono._src.state.store import load
    >>> folder = Path(tempfile.mkdtemp()) / "ckpt" / "step-5"
    >>> commit(folder, arrays={"bias": np.zeros(3)}, state={"best": float("inf")}, step=5)
    >>> sorted(os.listdir(folder))
    ['arrays.safetensors', 'manifest.json', 'state.json']
    >>> load(folder).state
    {'best': inf}
    """
    location = to_location(folder)
    content = _Content(arrays, state, step, info)
    with explain_os_errors("written", location, content.num_bytes), begin_checkpoint(location) as pending:
        pending.complete(content.write(pending.files, pending.data))


def begin_checkpoint(folder: Location) -> PendingCheckpoint:
    """A place for the files of a new checkpoint in `folder`. CheckpointError if something else has that name."""
    check_replaceable(folder)
    if isinstance(folder, RemotePath):
        return MarkedFolder(folder)
    make_folders(folder.parent)
    return RenamedFolder(folder) if can_rename_folders(folder.parent) else MarkedFolder(folder)


class _Content:
    """What is written, checked before the disk is touched."""

    def __init__(self, arrays: Mapping[str, Array], state: JSON, step: int, info: Mapping[str, str]) -> None:
        self._arrays = {check_name(name): to_storable(name, array) for name, array in arrays.items()}
        self._state = dumps(state)
        self._step = check_step(step)
        self._info = add_versions(info)
        self.num_bytes = len(self._state) + sum(array.nbytes for array in self._arrays.values())

    def write(self, files: Files, data: str) -> Manifest:
        """Writes the files; the manifest that lists them is returned, and is not written."""
        files.write(STATE, self._state)
        with files.new_file(ARRAYS) as path:
            save_arrays(path, {name: to_safetensors(array) for name, array in self._arrays.items()})
            arrays = describe_file(path)
        return Manifest(
            step=self._step,
            written=round(time.time(), 3),  # so that JSON gives back the same number
            info=self._info,
            files={ARRAYS: arrays, STATE: describe_bytes(self._state)},
            arrays={name: ArrayEntry(list(array.shape), array.dtype.name) for name, array in self._arrays.items()},
            data=data,
        )


def describe_file(path: Path) -> FileEntry:
    """The size and the checksum of a file."""
    return FileEntry(path.stat().st_size, hash_file(path))


def describe_bytes(data: bytes) -> FileEntry:
    """The same of a file with this content."""
    return FileEntry(len(data), hashlib.sha256(data).hexdigest())


def check_step(step: int) -> int:
    """The step of a checkpoint; ValueError if it cannot be one."""
    if operator.index(step) < 0:
        raise ValueError(f"commit: step is {step}. Expected 0 or more.")
    return operator.index(step)


def add_versions(info: Mapping[str, str]) -> dict[str, str]:
    """``info`` with the versions of libraries; TypeError if it is not strings."""
    versions = {"python": platform.python_version(), "numpy": np.__version__, "safetensors": safetensors.__version__}
    for key, text in info.items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise TypeError(f"commit: info has {key!r}: {text!r}. Expected strings: write {str(key)!r}: {str(text)!r}.")
    return {**versions, **info}


def check_name(name: str) -> str:
    """The name of an array; TypeError or ValueError if it cannot be one."""
    if not isinstance(name, str):
        raise TypeError(f"commit: an array has the name {name!r}, a {type(name).__name__}. Expected a string.")
    if name == "__metadata__":
        raise ValueError("commit: an array has the name '__metadata__', which safetensors uses itself. Rename it.")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"commit: the name {name!r} of an array is not valid text ({error.reason}). Rename it."
        ) from None
    return name


def save_arrays(path: Path, arrays: dict[str, Array]) -> None:
    """Writes a file of arrays."""
    try:
        save_file(arrays, path)
    except safetensors.SafetensorError as error:
        number = _OS_ERROR.search(str(error))  # it wraps OS errors and leaves only their text
        if number is None:
            raise CheckpointError(f"{os.fspath(path)!r} could not be written by safetensors: {error}") from error
        code = int(number[1])
        raise OSError(code, os.strerror(code), os.fspath(path)) from error
