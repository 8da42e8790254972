"""Reading a checkpoint of a store: copied to this machine and verified, or only what is asked for."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final, final

import numpy as np

from unisono._src.state.store._dtypes import Array, dtype_of_tensor
from unisono._src.state.store._errors import BadCheckpoint
from unisono._src.state.store._json import JSON, loads
from unisono._src.state.store._manifest import STATE, Manifest, read_all
from unisono._src.state.store._remote_path import RemotePath, map_concurrently
from unisono._src.state.store._stored_array import StoredArray, stored_arrays

_MAX_HEADER_BYTES: Final = 100_000_000  # as safetensors has it
# A request takes longer than a few megabytes: what is smaller than the first is read with its neighbours.
_SMALL_BYTES: Final = 1 << 20
_BLOCK_BYTES: Final = 8 << 20


def download(folder: RemotePath, manifest: Manifest, target: Path) -> None:
    """Copies the files of a checkpoint to the folder ``target``, several at a time. They are not verified."""

    def copy(name: str) -> None:
        source, entry = folder / manifest.path_of(name), manifest.files[name]
        size = source.size()
        if size != entry.bytes:
            found = f"{name} is missing" if size is None else f"{name} is damaged: it has {size:,} bytes"
            raise BadCheckpoint(folder, f"{found}, expected {entry.bytes:,} bytes.")
        try:
            source.download(target / name)
        except FileNotFoundError:  # deleted meanwhile
            raise BadCheckpoint(folder, f"{name} is missing.") from None

    map_concurrently(copy, manifest.files)


def read_remote_state(folder: RemotePath, manifest: Manifest) -> JSON:
    """The state, which is verified."""
    data, entry = read_all(folder, manifest.path_of(STATE)), manifest.files[STATE]
    if hashlib.sha256(data).hexdigest() != entry.sha256:
        raise BadCheckpoint(folder, f"{STATE} is damaged: it does not have its checksum.")
    try:
        return loads(data)
    except ValueError as error:
        raise BadCheckpoint(folder, f"{STATE} is not as Unisono writes it: {error}.") from error


def open_remote_arrays(folder: RemotePath, manifest: Manifest) -> dict[str, StoredArray]:
    """The arrays, of which only what is used is read. What is read is not verified: another process has done that."""

    def open_file(name: str) -> TensorFile:
        return TensorFile(folder / manifest.path_of(name), manifest.files[name].bytes)

    try:
        return stored_arrays(manifest, map_concurrently(open_file, manifest.array_files))
    except (ValueError, KeyError, TypeError, FileNotFoundError) as error:
        raise BadCheckpoint(folder, f"its arrays are not as Unisono writes them: {error}.") from error


@final
class TensorFile:
    """A file of safetensors in a store, with the methods of `safetensors.safe_open` that are needed here.

    Eight bytes have the length of the header, which is JSON: by name the dtype, the shape, and from where to where the
    values are. Values follow, row by row.
    """

    def __init__(self, path: RemotePath, num_bytes: int) -> None:
        self._path, self._num_bytes = path, num_bytes
        self._block = b""
        self._block_start = 0
        length = int.from_bytes(self.read_bytes(0, 8), "little")
        if not 2 <= length <= min(num_bytes - 8, _MAX_HEADER_BYTES):
            raise ValueError(f"the header of {path.name} has {length:,} bytes")
        header = json.loads(self.read_bytes(8, 8 + length))
        if not isinstance(header, dict) or not all(isinstance(entry, dict) for entry in header.values()):
            raise ValueError(f"the header of {path.name} is not a list of tensors")
        header.pop("__metadata__", None)
        first = 8 + length
        self._tensors = {name: _RemoteTensor(self, first, num_bytes - first, **entry) for name, entry in header.items()}

    def keys(self) -> list[str]:
        return list(self._tensors)

    def get_slice(self, name: str) -> _RemoteTensor:
        return self._tensors[name]

    def get_tensor(self, name: str) -> Array:
        return self._tensors[name].read_all()

    def read_bytes(self, start: int, stop: int) -> bytes:
        """The bytes from ``start`` to ``stop`` of the file."""
        if stop - start >= _SMALL_BYTES:
            data = self._path.read(start, stop)
        else:
            if not self._block_start <= start <= stop <= self._block_start + len(self._block):
                self._block_start = start
                self._block = self._path.read(start, min(start + _BLOCK_BYTES, self._num_bytes))
            data = self._block[start - self._block_start : stop - self._block_start]
        if len(data) != stop - start:
            raise BadCheckpoint(self._path.parent, f"{self._path.name} has become shorter while it was read.")
        return data


@final
class _RemoteTensor:
    """One tensor of a file."""

    def __init__(
        self, file: TensorFile, first: int, num_bytes: int, *, dtype: str, shape: list[int], data_offsets: list[int]
    ) -> None:
        self._file, self._name, self._shape = file, dtype, shape
        self._dtype = dtype_of_tensor(dtype)
        start, stop = data_offsets
        if any(type(number) is not int or number < 0 for number in (*shape, start, stop)):
            raise ValueError(f"a tensor has the shape {shape!r}, and the bytes {data_offsets!r}")
        if stop - start != math.prod(shape) * self._dtype.itemsize or stop > num_bytes:
            raise ValueError(f"a tensor of shape {shape!r} has the bytes {start} to {stop} of {num_bytes}")
        self._start = first + start

    def get_shape(self) -> list[int]:
        return self._shape

    def get_dtype(self) -> str:
        return self._name

    def read_all(self) -> Array:
        return self._read(0, math.prod(self._shape)).reshape(self._shape)

    def __getitem__(self, at: slice | Sequence[slice]) -> Array:
        slices = (at,) if isinstance(at, slice) else tuple(at)
        first, stop, _ = slices[0].indices(self._shape[0])
        row = math.prod(self._shape[1:])
        rows = self._read(first * row, stop * row).reshape(stop - first, *self._shape[1:])
        return np.array(rows[(slice(None), *slices[1:])])

    def _read(self, first: int, stop: int) -> Array:
        size = self._dtype.itemsize
        data = self._file.read_bytes(self._start + first * size, self._start + stop * size) if stop > first else b""
        values: Array = np.frombuffer(data, self._dtype).copy()  # so that they can be changed
        return values
