"""Elements in one file: written in order, read by number.

A file is: a magic word; for each element its leaves' dtypes, shapes and bytes behind a JSON header; the offsets
of all elements; a footer. It appears under its name when it is complete, or not at all. Nothing in it is code.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from unisono._src.data.plans._composite_leaf import CompositeLeaf, leaf_from_parts
from unisono._src.data.plans._nest import Nest, flatten, is_leaf, unflatten

_MAGIC = b"unisono2"
_HEAD = struct.Struct("<QII")  # bytes of data, bytes of header, crc32 of both
_FOOTER = struct.Struct("<QQI8s")  # offset of the index, number of elements, crc32 of the index, magic


class ElementFileError(ValueError):
    """A file of elements is damaged or belongs to another plan."""


class ElementWriter:
    """Writes elements to a temporary file beside `path`; `commit` renames it."""

    def __init__(self, path: Path, description: str) -> None:
        self._path = path
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.{id(self):x}")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self._temporary, "xb")  # noqa: SIM115  (closed by commit or discard)
        self._file.write(_MAGIC)
        self._offsets: list[int] = []
        self._description = description

    def write(self, element: Nest) -> None:
        """Adds one element."""
        leaves = flatten(element)
        blobs = [_encode(leaf) for leaf in leaves]
        header = {"structure": _structure_json(element), "leaves": [description for description, _ in blobs]}
        head = json.dumps(header, separators=(",", ":")).encode()
        data = b"".join(blob for _, blob in blobs)
        self._offsets.append(self._file.tell())
        self._file.write(_HEAD.pack(len(data), len(head), zlib.crc32(data, zlib.crc32(head))))
        self._file.write(head)
        self._file.write(data)

    def commit(self) -> None:
        """Completes the file and renames it to `path`."""
        start = self._file.tell()
        index = json.dumps({"plan": self._description}).encode()
        table = struct.pack("<I", len(index)) + index + np.asarray(self._offsets, "<i8").tobytes()
        self._file.write(table)
        self._file.write(_FOOTER.pack(start, len(self._offsets), zlib.crc32(table), _MAGIC))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._temporary, self._path)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.discard()  # after a pass that was abandoned without being closed

    def discard(self) -> None:
        """Removes the temporary file, if `commit` has not been called."""
        if not self._file.closed:
            self._file.close()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._temporary)


class ElementFile:
    """Reads a complete file. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1
        self._fd = os.open(path, os.O_RDONLY)
        self.description, self._offsets = self._index()

    def __len__(self) -> int:
        return len(self._offsets)

    def read(self, number: int, like: Nest = None) -> Nest:
        """One element. `like` gives the classes of namedtuples, which a file does not hold."""
        offset = int(self._offsets[number])
        num_bytes, num_head, crc = _HEAD.unpack(self._bytes(offset, _HEAD.size))
        body = self._bytes(offset + _HEAD.size, num_head + num_bytes)
        if zlib.crc32(body) != crc:
            raise self._damage_error(f"element {number} does not have its checksum")
        header = json.loads(body[:num_head])
        leaves, start = [], num_head
        for description in header["leaves"]:
            leaf, start = _decode(description, body, start)
            leaves.append(leaf)
        return unflatten(_structure(header["structure"]) if like is None else like, leaves)

    def needs_classes(self) -> bool:
        """Whether elements hold namedtuples."""
        if not len(self):
            return False
        offset = int(self._offsets[0])
        _, num_head, _ = _HEAD.unpack(self._bytes(offset, _HEAD.size))
        return '"named"' in self._bytes(offset + _HEAD.size, num_head).decode()

    def close(self) -> None:
        """Closes the file. Safe to call twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()  # deferred elements of `load` read from it as long as they exist

    def _index(self) -> tuple[str, np.ndarray[Any, Any]]:
        size = os.fstat(self._fd).st_size
        if size < len(_MAGIC) + _FOOTER.size or self._bytes(0, len(_MAGIC)) != _MAGIC:
            raise self._damage_error("it is not a file that this version of Unisono wrote")
        start, number, crc, magic = _FOOTER.unpack(self._bytes(size - _FOOTER.size, _FOOTER.size))
        if magic != _MAGIC or start > size:
            raise self._damage_error("its end is missing")
        table = self._bytes(start, size - _FOOTER.size - start)
        if zlib.crc32(table) != crc:
            raise self._damage_error("its index does not have its checksum")
        (length,) = struct.unpack_from("<I", table)
        offsets = np.frombuffer(table, "<i8", number, 4 + length)
        return json.loads(table[4 : 4 + length])["plan"], offsets

    def _bytes(self, offset: int, count: int) -> bytes:
        data = os.pread(self._fd, count, offset)
        if len(data) != count:
            raise self._damage_error(f"it ends within the {count} bytes at offset {offset}")
        return data

    def _damage_error(self, how: str) -> ElementFileError:
        return ElementFileError(
            f"{self._path} cannot be read: {how}. A cache or a snapshot is written "
            "again if you delete it. What Dataset.save wrote has to be saved again from the original data."
        )


def leaf_as_json(leaf: Any) -> Any:
    """One leaf in a form that JSON can hold."""
    description, data = _encode(leaf)
    return [description, base64.b64encode(data).decode()]


def leaf_from_json(encoded: Any) -> Any:
    """The leaf that `leaf_as_json` was given."""
    description, data = encoded
    return _decode(description, base64.b64decode(data), 0)[0]


def _encode(leaf: Any) -> tuple[Any, bytes]:
    if leaf is None:
        return None, b""
    if isinstance(leaf, CompositeLeaf):
        kind, arrays, about = leaf.file_parts()
        parts = [_encode(np.asarray(array)) for array in arrays]
        description = {"composite": kind, "about": about, "parts": [part for part, _ in parts]}
        return description, b"".join(data for _, data in parts)
    if not isinstance(leaf, np.ndarray):
        raise TypeError(f"An element holds a {type(leaf).__name__}; only arrays can be kept in a file.")
    if leaf.dtype.hasobject:
        items = [bytes(item) for item in leaf.flat]
        return {"shape": leaf.shape, "lengths": [len(item) for item in items]}, b"".join(items)
    return {"shape": leaf.shape, "dtype": _dtype_name(leaf.dtype)}, np.ascontiguousarray(leaf).tobytes()


def _decode(description: Any, body: bytes, start: int) -> tuple[Any, int]:
    if description is None:
        return None, start
    if "composite" in description:
        arrays = []
        for part in description["parts"]:
            array, start = _decode(part, body, start)
            arrays.append(array)
        return leaf_from_parts(description["composite"], arrays, description["about"]), start
    shape = tuple(description["shape"])
    if "lengths" in description:
        items = np.empty(len(description["lengths"]), object)
        for index, length in enumerate(description["lengths"]):
            items[index] = body[start : start + length]
            start += length
        return items.reshape(shape), start
    dtype = np.dtype(description["dtype"])
    count = int(np.prod(shape))
    array = np.frombuffer(body, dtype, count, start) if count else np.empty(0, dtype)
    return array.reshape(shape), start + count * dtype.itemsize


def _dtype_name(dtype: np.dtype[Any]) -> str:
    # bfloat16 and similar dtypes have no type letter, but a name that np.dtype accepts once ml_dtypes is imported.
    return dtype.name if dtype.kind == "V" else dtype.str


def _structure_json(nest: Nest) -> Any:
    if is_leaf(nest):
        return None
    if isinstance(nest, dict):
        # Pairs, since JSON makes text of the keys of an object, and texts are in another order than numbers.
        return {"dict": [[key, _structure_json(nest[key])] for key in sorted(nest)]}
    kind = "named" if hasattr(nest, "_fields") else "list" if isinstance(nest, list) else "tuple"
    return {kind: [_structure_json(child) for child in nest]}


def _structure(description: Any) -> Nest:
    if description is None:
        return None
    if "dict" in description:
        return {key: _structure(child) for key, child in description["dict"]}
    if "list" in description:
        return [_structure(child) for child in description["list"]]
    return tuple(_structure(child) for child in next(iter(description.values())))
