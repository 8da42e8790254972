"""MNIST and its kin, as `.npz` files in Keras's layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from unisono.core import environment

Images: TypeAlias = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]

NOT_FOUND = """{name}.npz was not found in: {searched}.
Set UNISONO_DATASETS to a folder that holds it (arrays x_train, y_train, x_test, y_test)."""


def mnist() -> tuple[Images, Images]:
    """``(x_train, y_train), (x_test, y_test)``: 60,000 and 10,000 digits of 28x28 bytes."""
    return _load("mnist")


def fashion_mnist() -> tuple[Images, Images]:
    """``(x_train, y_train), (x_test, y_test)``: 60,000 and 10,000 garments of 28x28 bytes."""
    return _load("fashion_mnist")


def _load(name: str) -> tuple[Images, Images]:
    path = _find(name)
    with np.load(path, allow_pickle=False) as arrays:
        return (arrays["x_train"], arrays["y_train"]), (arrays["x_test"], arrays["y_test"])


def _find(name: str) -> Path:
    """The folder the user named, else the one of a clone of the repository, else Keras's cache."""
    named = environment().datasets
    folders = [Path(named)] if named else [_of_clone(), Path.home() / ".keras" / "datasets"]
    for folder in folders:
        if (folder / f"{name}.npz").is_file():
            return folder / f"{name}.npz"
    raise FileNotFoundError(NOT_FOUND.format(name=name, searched=", ".join(map(str, folders))))


def _of_clone() -> Path:
    return Path(__file__).parents[3] / "examples" / "data"
