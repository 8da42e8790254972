"""Writing a checkpoint with several processes: each writes its part, and the first one completes the checkpoint.

All see one folder. The first process makes the staging folder (:class:`StagedParts`), each one writes its part there
and reports it in a small file beside (:func:`write_part`), and the first waits for these reports, writes the manifest
and renames the folder. The lock of the staging folder is the first process's: if that is killed, the parts of all are
abandoned, and are deleted with it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, final

from unisono._src.state.store._commit import add_versions, check_name, check_step, save_arrays
from unisono._src.state.store._dtypes import Array, to_safetensors, to_storable
from unisono._src.state.store._durable import hash_file, make_folders, sync_file, sync_folder, write_file
from unisono._src.state.store._errors import CheckpointError, explain_os_errors
from unisono._src.state.store._json import JSON, dumps, loads
from unisono._src.state.store._manifest import MANIFEST, STATE, ArrayEntry, FileEntry, Manifest
from unisono._src.state.store._pieces import ArrayInPieces, part_file, tensor_name, whole_index
from unisono._src.state.store._replace import check_replaceable, rename_into_place
from unisono._src.state.store._staging import clear_stale, staging_folder

_POLL_SECONDS: Final = 0.02

ABANDONED = """{folder!r} was not written: another process could not write its part, or has ended."""

PEER_FAILED = """{folder!r} was not written: {name} could not write its part. {error}"""

NOT_THERE = """{folder!r} was not written: {name} has reported its part, and there is no such file {file!r} here. All
processes need the same folder, on a file system that they share."""


def write_part(folder: Path, part: int, num_parts: int, arrays: Mapping[str, Array | ArrayInPieces]) -> None:
    """Writes what this process has of ``arrays`` into the staged ``folder``, and reports it, or why it could not.

    Arrays that are not in pieces are in the part of the first process.
    """
    report = _report_path(folder, part)
    try:
        tensors = _tensors(arrays, part)
        path, num_bytes = folder / part_file(part, num_parts), sum(tensor.nbytes for tensor in tensors.values())
        with explain_os_errors("written", path, num_bytes):
            path.touch()
            mode = path.stat().st_mode & 0o777
            save_arrays(path, tensors)
            os.chmod(path, mode)  # the library makes it readable for this user alone
            sync_file(path)
            sync_folder(folder)
            _write_report(report, {"bytes": path.stat().st_size, "sha256": hash_file(path)})
    except Exception as error:
        with contextlib.suppress(OSError):  # the folder is gone, or not writable: the processes tell each other
            _write_report(report, {"error": f"{type(error).__name__}: {error}"})
        raise


@final
class StagedParts:
    """A checkpoint that several processes write, as the first of them has it.

    Args:
        folder: the checkpoint.
        names: what errors call each process.

    Attributes:
        path: the folder into which each process writes its part.
    """

    def __init__(self, folder: str | os.PathLike[str], names: Sequence[str]) -> None:
        self._folder, self._names = Path(os.path.abspath(folder)), tuple(names)
        self._abandoned = threading.Event()
        self._staging = contextlib.ExitStack()
        with explain_os_errors("written", self._folder):
            check_replaceable(self._folder)
            make_folders(self._folder.parent)
            clear_stale(self._folder.parent)
            self.path = self._staging.enter_context(staging_folder(self._folder.parent)) / self._folder.name
            self.path.mkdir()

    def commit(
        self,
        *,
        arrays: Mapping[str, Array | ArrayInPieces],
        state: JSON = None,
        step: int = 0,
        info: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Waits for the parts and completes the checkpoint. When this returns it is on the disk.

        If it raises, `close` has to be called: when the other processes have ended their writing, so that their errors
        are not those of a folder that is gone.
        """
        text, step, info = dumps(state), check_step(step), add_versions(info)
        entries = {check_name(name): _entry(name, array) for name, array in arrays.items()}
        with explain_os_errors("written", self._folder):
            write_file(self.path / STATE, text)
            files = {STATE: FileEntry(len(text), hash_file(self.path / STATE))} | self._wait_for_parts()
            manifest = Manifest(step=step, written=round(time.time(), 3), info=info, files=files, arrays=entries)
            write_file(self.path / MANIFEST, manifest.to_bytes())
            sync_folder(self.path)
            self._rename(manifest)
            sync_folder(self._folder.parent)
        self.close()

    def abandon(self) -> None:
        """Ends the wait for parts: `commit` raises, now or when it is called. To be called by any thread."""
        self._abandoned.set()

    def close(self) -> None:
        """Deletes the staging folder. Nothing happens to a checkpoint that is complete."""
        self._staging.close()

    def _wait_for_parts(self) -> dict[str, FileEntry]:
        found: dict[int, Any] = {}
        num_parts = len(self._names)
        while len(found) < num_parts:
            for part in range(num_parts):
                if part not in found and _report_path(self.path, part).exists():
                    found[part] = self._check_report(part)
            if len(found) < num_parts and self._abandoned.wait(_POLL_SECONDS):
                raise CheckpointError(ABANDONED.format(folder=os.fspath(self._folder)))
        return {part_file(part, num_parts): found[part] for part in range(num_parts)}

    def _check_report(self, part: int) -> FileEntry:
        where = {"folder": os.fspath(self._folder), "name": self._names[part]}
        report = loads(_report_path(self.path, part).read_bytes())
        if "error" in report:
            raise CheckpointError(PEER_FAILED.format(**where, error=report["error"]))
        path = self.path / part_file(part, len(self._names))
        if not path.exists() or path.stat().st_size != report["bytes"]:
            raise CheckpointError(NOT_THERE.format(**where, file=os.fspath(path)))
        return FileEntry(**report)

    def _rename(self, manifest: Manifest) -> None:
        try:
            rename_into_place(self.path, self._folder, manifest)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with staging_folder(self._folder.parent, inside=True) as staged:
                copy = shutil.copytree(self.path, staged / self._folder.name)
                for name in os.listdir(copy):
                    sync_file(copy / name)
                sync_folder(copy)
                rename_into_place(copy, self._folder, manifest)


def _tensors(arrays: Mapping[str, Array | ArrayInPieces], part: int) -> dict[str, Array]:
    tensors = {}
    for name, array in arrays.items():
        if isinstance(array, ArrayInPieces):
            for number, value in array.values.items():
                tensors[tensor_name(check_name(name), array.pieces[number].index)] = to_storable(name, value)
        elif part == 0:
            value = to_storable(name, array)
            tensors[tensor_name(check_name(name), whole_index(value.shape))] = value
    return {name: to_safetensors(value) for name, value in tensors.items()}


def _entry(name: str, array: Array | ArrayInPieces) -> ArrayEntry:
    if isinstance(array, ArrayInPieces):
        pieces = [[piece.part, *(end for ends in piece.index for end in ends)] for piece in array.pieces]
    else:
        array = to_storable(name, array)
        pieces = [[0, *(end for ends in whole_index(array.shape) for end in ends)]]
    return ArrayEntry(list(array.shape), array.dtype.name, pieces)


def _report_path(folder: Path, part: int) -> Path:
    return folder.with_name(f"{folder.name}.part-{part}")


def _write_report(path: Path, report: JSON) -> None:
    temporary = path.with_name(f"{path.name}.new")
    temporary.write_bytes(dumps(report))
    os.rename(temporary, path)
