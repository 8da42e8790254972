"""Writing a checkpoint with several processes: each writes its part, and the first one completes the checkpoint.

All see one folder. The first process begins the checkpoint (:class:`StagedParts`), each one writes its part to the path
there and reports it in a small file beside (:func:`write_part`), and the first waits for these reports and completes
the checkpoint. If the first process is killed, the parts of all are abandoned.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, final

from unisono._src.state.store._commit import (
    add_versions,
    begin_checkpoint,
    check_name,
    check_step,
    describe_bytes,
    describe_file,
    save_arrays,
)
from unisono._src.state.store._dtypes import Array, to_safetensors, to_storable
from unisono._src.state.store._errors import CheckpointError, explain_os_errors
from unisono._src.state.store._files import files_in
from unisono._src.state.store._json import JSON, dumps, loads
from unisono._src.state.store._location import Location, to_location
from unisono._src.state.store._manifest import STATE, ArrayEntry, FileEntry, Manifest, is_data_name
from unisono._src.state.store._pieces import ArrayInPieces, part_file, tensor_name, whole_index
from unisono._src.state.store._remote_path import RemotePath

_POLL_SECONDS: Final = 0.02
_REMOTE_POLL_SECONDS: Final = 0.5  # each time is a request

ABANDONED = """{folder!r} was not written: another process could not write its part, or has ended."""

PEER_FAILED = """{folder!r} was not written: {name} could not write its part. {error}"""

NOT_THERE = """{folder!r} was not written: {name} has reported its part, and there is no such file {file!r} here. All
processes need the same folder, on a file system that they share."""


def write_part(folder: Location, part: int, num_parts: int, arrays: Mapping[str, Array | ArrayInPieces]) -> None:
    """Writes what this process has of ``arrays`` into the ``path`` of a `StagedParts`, and reports it, or why it could
    not.

    Arrays that are not in pieces are in the part of the first process.
    """
    # A folder of the name that a `MarkedFolder` draws is on what cannot rename folders, and can do little else.
    files, name = files_in(folder, in_order=is_data_name(folder.name)), part_file(part, num_parts)
    try:
        tensors = _tensors(arrays, part)
        num_bytes = sum(tensor.nbytes for tensor in tensors.values())
        with explain_os_errors("written", folder / name, num_bytes):
            with files.new_file(name) as path:
                save_arrays(path, tensors)
                entry = describe_file(path)
            files.sync()
            _write_report(folder, part, {"bytes": entry.bytes, "sha256": entry.sha256})
    except Exception as error:
        # The folder is gone, or not writable: the processes tell each other.
        with contextlib.suppress(OSError, CheckpointError):
            _write_report(folder, part, {"error": f"{type(error).__name__}: {error}"})
        raise


def is_staged(folder: Location) -> bool:
    """Whether this process sees ``folder``, the ``path`` of a `StagedParts` of another process."""
    return files_in(folder.parent).size(_begun(folder)) is not None


@final
class StagedParts:
    """A checkpoint that several processes write, as the first of them has it.

    Args:
        folder: the checkpoint.
        names: what errors call each process.

    Attributes:
        path: the folder into which each process writes its part.
    """

    def __init__(self, folder: str | os.PathLike[str] | RemotePath, names: Sequence[str]) -> None:
        self._folder, self._names = to_location(folder), tuple(names)
        self._abandoned = threading.Event()
        with explain_os_errors("written", self._folder):
            self._pending = begin_checkpoint(self._folder)
            self.path = self._pending.path
            # A folder alone is not seen where folders are only the beginnings of names.
            try:
                files_in(self.path.parent).replace(_begun(self.path), b"", durable=False)
            except BaseException:
                self.close()
                raise

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
            self._pending.files.write(STATE, text)
            files = {STATE: describe_bytes(text)} | self._wait_for_parts()
            manifest = Manifest(
                step=step,
                written=round(time.time(), 3),
                info=info,
                files=files,
                arrays=entries,
                data=self._pending.data,
            )
            self._pending.complete(manifest)
        self.close()

    def abandon(self) -> None:
        """Ends the wait for parts: `commit` raises, now or when it is called. To be called by any thread."""
        self._abandoned.set()

    def close(self) -> None:
        """Deletes what is not part of the checkpoint. Nothing happens to one that is complete."""
        self._pending.close()

    def _wait_for_parts(self) -> dict[str, FileEntry]:
        found: dict[int, Any] = {}
        num_parts = len(self._names)
        beside = files_in(self.path.parent)
        seconds = _REMOTE_POLL_SECONDS if isinstance(self.path, RemotePath) else _POLL_SECONDS
        while len(found) < num_parts:
            reports = {_report(self.path, part): part for part in range(num_parts) if part not in found}
            for name in beside.existing(reports):
                found[reports[name]] = self._check_report(reports[name], loads(beside.read(name)))
            if len(found) < num_parts and self._abandoned.wait(seconds):
                raise CheckpointError(ABANDONED.format(folder=str(self._folder)))
        return {part_file(part, num_parts): found[part] for part in range(num_parts)}

    def _check_report(self, part: int, report: Any) -> FileEntry:
        where = {"folder": str(self._folder), "name": self._names[part]}
        if "error" in report:
            raise CheckpointError(PEER_FAILED.format(**where, error=report["error"]))
        name = part_file(part, len(self._names))
        if self._pending.files.size(name) != report["bytes"]:
            raise CheckpointError(NOT_THERE.format(**where, file=str(self.path / name)))
        return FileEntry(**report)


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


def _begun(folder: Location) -> str:
    return f"{folder.name}.begun"


def _report(folder: Location, part: int) -> str:
    return f"{folder.name}.part-{part}"


def _write_report(folder: Location, part: int, report: JSON) -> None:
    files_in(folder.parent).replace(_report(folder, part), dumps(report), durable=False)
