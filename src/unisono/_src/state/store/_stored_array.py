"""An array in the files of a checkpoint, of which only what is asked for is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from unisono._src.state.store._dtypes import Array, check_tensor, dtype_from_name, is_stored_as_bytes
from unisono._src.state.store._manifest import Manifest
from unisono._src.state.store._pieces import Index, tensor_name, whole_index


@dataclass(frozen=True)
class _SavedTensor:
    """One piece of an array: a tensor in a file that safetensors has opened."""

    file: Any
    name: str
    index: Index


@final
class StoredArray:
    """An array of a checkpoint. `np.asarray` reads all of it, `read` a part; each time anew, into memory of its own.

    Attributes:
        shape, dtype: those of the whole array.
    """

    def __init__(self, shape: Sequence[int], dtype: np.dtype[Any], tensors: Sequence[_SavedTensor]) -> None:
        self.shape, self.dtype = tuple(shape), dtype
        self._tensors = tuple(tensors)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def read(self, index: Sequence[slice] = ()) -> Array:
        """The values at ``index``, slices of step 1 in the first dimensions or in all. Only these are read."""
        slices = [*index, *[slice(None)] * (self.ndim - len(index))]
        wanted = tuple(each.indices(size)[:2] for each, size in zip(slices, self.shape, strict=True))
        values = np.empty([max(0, stop - start) for start, stop in wanted], self.dtype)
        if not values.size:
            return values
        for tensor in self._tensors:
            common = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(tensor.index, wanted, strict=True))
            if all(start < stop for start, stop in common):
                found = self._read_tensor(tensor, _relative(common, tensor.index))
                if found.shape == values.shape:
                    return found
                values[_relative(common, wanted)] = found
        return values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("an array of a checkpoint is read from its file, which makes a copy")
        values = self.read()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __repr__(self) -> str:
        return f"<StoredArray {self.dtype.name} of shape {self.shape}>"

    def _read_tensor(self, tensor: _SavedTensor, at: tuple[slice, ...]) -> Array:
        if not at:
            found: Array = tensor.file.get_tensor(tensor.name)
            return found.view(self.dtype).reshape(()) if is_stored_as_bytes(self.dtype) else found
        if not is_stored_as_bytes(self.dtype):
            found = tensor.file.get_slice(tensor.name)[at]
            return found
        # Bytes in one dimension: the rows of the first dimension are next to each other.
        shape = [stop - start for start, stop in tensor.index]
        row_bytes = math.prod(shape[1:]) * self.dtype.itemsize
        rows = tensor.file.get_slice(tensor.name)[at[0].start * row_bytes : at[0].stop * row_bytes]
        return np.ascontiguousarray(rows.view(self.dtype).reshape(-1, *shape[1:])[(slice(None), *at[1:])])


def stored_arrays(manifest: Manifest, files: Sequence[Any]) -> dict[str, StoredArray]:
    """The arrays of a checkpoint whose files of arrays are opened. ValueError if they are not as the manifest says."""
    arrays, expected = {}, [set[str]() for _ in files]
    for name, entry in manifest.arrays.items():
        dtype = dtype_from_name(entry.dtype)
        if entry.pieces is None:
            tensors = [(0, _SavedTensor(files[0], name, whole_index(entry.shape)))]
        else:
            tensors = [
                (piece.part, _SavedTensor(files[piece.part], tensor_name(name, piece.index), piece.index))
                for piece in entry.located()
            ]
        for part, tensor in tensors:
            expected[part].add(tensor.name)
        arrays[name] = StoredArray(entry.shape, dtype, [tensor for _, tensor in tensors])
    for file, names in zip(files, expected, strict=True):
        if set(file.keys()) != names:
            raise ValueError("its arrays differ from those that the manifest lists")
    for array in arrays.values():
        for tensor in array._tensors:
            found = tensor.file.get_slice(tensor.name)
            shape = [stop - start for start, stop in tensor.index]
            check_tensor(tensor.name, shape, array.dtype, found.get_shape(), found.get_dtype())
    return arrays


def _relative(index: Index, to: Sequence[tuple[int, int]]) -> tuple[slice, ...]:
    return tuple(slice(start - first, stop - first) for (start, stop), (first, _) in zip(index, to, strict=True))
