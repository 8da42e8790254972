"""MNIST and its kin in the folders of this machine: the one place that finds them.

| in a folder | what it is |
|---|---|
| `mnist.npz`, `fashion_mnist.npz` | Keras's layout: arrays `x_train`, `y_train`, `x_test`, `y_test` |
| `mnist/`, `fashion-mnist/` | the four original files, with or without `.gz`; Keras and Debian keep Fashion-MNIST so |
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from unisono._src.datasets._idx import read_idx
from unisono._src.datasets._npz import read_npz
from unisono_launch.worker import IDX_FOLDERS, dataset_folders

Images: TypeAlias = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
Arrays: TypeAlias = tuple[Images, Images]

_IDX_FILES: Final = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)

_NOT_FOUND: Final = """{name} was not found on this machine. Looked for the file {name}.npz (arrays x_train, y_train, \
x_test, y_test), and for a folder {folder}/ with {files}, in:
{searched}
Put one of them there, or set UNISONO_DATASETS to a folder that has it.
{origin}"""

_ORIGINS: Final = {
    "mnist": "The file can be had from https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
    "fashion_mnist": "The folder can be had on Debian and Ubuntu by `apt install dataset-fashion-mnist`, and from "
    "https://github.com/zalandoresearch/fashion-mnist/tree/master/data/fashion",
}


class DatasetFilesNotFoundError(FileNotFoundError):
    """No folder of this machine has the files of a dataset. The text says where to put which."""


def read_local(name: str, data_dir: str | os.PathLike[str] | None = None) -> Arrays:
    """``(x_train, y_train), (x_test, y_test)`` of "mnist" or "fashion_mnist", from the first folder that has it."""
    folders = [*([Path(data_dir)] if data_dir else []), *dataset_folders()]
    for folder in folders:
        file = folder / f"{name}.npz"
        if file.is_file():
            return _paired(read_npz(file))
        files = _idx_files(folder / IDX_FOLDERS[name])
        if files is not None:
            return _paired([read_idx(file) for file in files])
    raise DatasetFilesNotFoundError(_not_found(name, folders))


def _idx_files(folder: Path) -> list[Path] | None:
    """The four files, if all of them are there."""
    found = []
    for name in _IDX_FILES:
        spellings = [folder / f"{name}.gz", folder / name]
        file = next((spelling for spelling in spellings if spelling.is_file()), None)
        if file is None:
            return None
        found.append(file)
    return found


def _paired(arrays: Sequence[np.ndarray[Any, Any]]) -> Arrays:
    x_train, y_train, x_test, y_test = arrays
    return (x_train, y_train), (x_test, y_test)


def _not_found(name: str, folders: Sequence[Path]) -> str:
    return _NOT_FOUND.format(
        name=name,
        folder=IDX_FOLDERS[name],
        files=", ".join(f"{file}.gz" for file in _IDX_FILES),
        searched="\n".join(f"    {folder}" for folder in folders),
        origin=_ORIGINS[name],
    )
