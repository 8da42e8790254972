"""Sources of the arrays: files of this machine, else what Keras downloads."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from unisono._src.core import read_environment
from unisono._src.datasets import DatasetFilesNotFoundError, load_with_keras, read_local_dataset

Splits: TypeAlias = dict[str, dict[str, np.ndarray[Any, Any]]]
"""The features of each split, one row for each example."""

Source: TypeAlias = Callable[[str, str | os.PathLike[str] | None, bool], Splits]
"""A function of the name, a folder to look into first, and whether a download is allowed."""

# The files that Keras downloads: their names in its cache, and their addresses.
_ARCHIVES: Final = {
    "cifar10": ("cifar-10-batches-py-target_archive", "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"),
    "cifar100": ("cifar-100-python-target_archive", "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"),
}


def mnist(name: str, data_dir: str | os.PathLike[str] | None, download: bool) -> Splits:
    """MNIST and Fashion-MNIST: grey images, which get an axis for channels."""
    try:
        train, test = read_local_dataset(name, data_dir)
    except DatasetFilesNotFoundError as error:
        if not download:
            raise
        train, test = load_with_keras(name, str(error))
    return {
        split: {"image": images[..., None], "label": labels.astype(np.int64)}
        for split, (images, labels) in (("train", train), ("test", test))
    }


def cifar(name: str, data_dir: str | os.PathLike[str] | None, download: bool) -> Splits:
    """CIFAR-10 and CIFAR-100, which only Keras reads."""
    del data_dir
    file, url = _ARCHIVES[name]
    path = read_environment().keras_cache / file
    where_to_put_it = f"{name} was not found on this machine. Save {url} as {path}."
    if not download and not path.is_file():
        raise FileNotFoundError(where_to_put_it)
    train, test = load_with_keras(name, where_to_put_it)
    splits = {split: _cifar_features(split, *pair) for split, pair in (("train", train), ("test", test))}
    if name == "cifar100":
        (_, coarse_train), (_, coarse_test) = load_with_keras(name, where_to_put_it, label_mode="coarse")
        for split, coarse in (("train", coarse_train), ("test", coarse_test)):
            splits[split] = {"coarse_label": coarse.reshape(-1).astype(np.int64), **splits[split]}
    return splits


def _cifar_features(
    split: str, images: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]
) -> dict[str, np.ndarray[Any, Any]]:
    ids = np.array([f"{split}_{row:05d}".encode() for row in range(len(images))], object)
    return {"id": ids, "image": images, "label": labels.reshape(-1).astype(np.int64)}
