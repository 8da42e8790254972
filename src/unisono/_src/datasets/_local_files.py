"""Finds and reads the files of MNIST and Fashion-MNIST in the folders of this machine.

| in a folder | what it is |
|---|---|
| `mnist.npz`, `fashion_mnist.npz` | Keras's format: arrays `x_train`, `y_train`, `x_test`, `y_test` |
| `mnist/`, `fashion-mnist/` | the four original IDX files, with or without `.gz`; so Keras and Debian store
Fashion-MNIST |
"""

from __future__ import annotations

import gzip
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from unisono_launch.worker import IDX_FOLDERS, dataset_folders

Images: TypeAlias = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
Arrays: TypeAlias = tuple[Images, Images]

_NPZ_ARRAYS: Final = ("x_train", "y_train", "x_test", "y_test")
_IDX_FILES: Final = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
_UNSIGNED_BYTES: Final = 8  # IDX's code of the only type that these files have

_NOT_FOUND: Final = """{name} was not found on this machine. Looked for the file {name}.npz (arrays x_train, y_train, \
x_test, y_test), and for a folder {folder}/ with {files}, in:
{searched}
Put one of them there, or set UNISONO_DATASETS to a folder that has it.
{origin}"""

_ORIGINS: Final = {
    "mnist": "A clone of Unisono has the file in examples/data; it is also at "
    "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
    "fashion_mnist": "The folder comes on Debian and Ubuntu by `apt install dataset-fashion-mnist`, and from "
    "https://github.com/zalandoresearch/fashion-mnist/tree/master/data/fashion",
}


class DatasetFilesNotFoundError(FileNotFoundError):
    """No folder of this machine has the files of a dataset. The text says which files to put where."""


def read_local_dataset(name: str, data_dir: str | os.PathLike[str] | None = None) -> Arrays:
    """``(x_train, y_train), (x_test, y_test)`` of "mnist" or "fashion_mnist", from the first folder that has it."""
    folders = [*([Path(data_dir)] if data_dir else []), *dataset_folders()]
    for folder in folders:
        file = folder / f"{name}.npz"
        if file.is_file():
            return _pair(_read_npz(file))
        files = _find_idx_files(folder / IDX_FOLDERS[name])
        if files is not None:
            return _pair([_read_idx(file) for file in files])
    raise DatasetFilesNotFoundError(
        _NOT_FOUND.format(
            name=name,
            folder=IDX_FOLDERS[name],
            files=", ".join(f"{file}.gz" for file in _IDX_FILES),
            searched="\n".join(f"    {folder}" for folder in folders),
            origin=_ORIGINS[name],
        )
    )


def _find_idx_files(folder: Path) -> list[Path] | None:
    """The four files, if all of them exist."""
    found = []
    for name in _IDX_FILES:
        file = next((file for file in (folder / f"{name}.gz", folder / name) if file.is_file()), None)
        if file is None:
            return None
        found.append(file)
    return found


def _read_idx(path: Path) -> np.ndarray[Any, Any]:
    """The array in an IDX file, which may be compressed by gzip: a header of big-endian numbers, then bytes."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    if len(data) < 4 or data[:3] != bytes([0, 0, _UNSIGNED_BYTES]):
        raise ValueError(f"{path} is no IDX file of bytes: it begins with {data[:4].hex(' ')}. Get a good copy of it.")
    num_axes = data[3]
    header = 4 + 4 * num_axes
    shape = struct.unpack(f">{num_axes}I", data[4:header]) if len(data) >= header else ()
    if len(data) != header + int(np.prod(shape, dtype=np.int64)):
        raise ValueError(
            f"{path} should hold an array of the shape {shape} and has {len(data)} bytes. Get a good copy of it."
        )
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape)


def _read_npz(path: Path) -> list[np.ndarray[Any, Any]]:
    """The arrays ``x_train``, ``y_train``, ``x_test`` and ``y_test`` of a file in Keras's format."""
    with np.load(path, allow_pickle=False) as arrays:
        if missing := [name for name in _NPZ_ARRAYS if name not in arrays]:
            raise ValueError(f"{path} has no {' and no '.join(missing)}. It has {', '.join(arrays) or 'nothing'}.")
        return [arrays[name] for name in _NPZ_ARRAYS]


def _pair(arrays: Sequence[np.ndarray[Any, Any]]) -> Arrays:
    x_train, y_train, x_test, y_test = arrays
    return (x_train, y_train), (x_test, y_test)
