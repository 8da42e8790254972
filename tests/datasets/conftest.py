"""Small files in the formats of MNIST and Fashion-MNIST."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from unisono._src.datasets import Arrays


def small_arrays() -> Arrays:
    """Twelve images and five, with labels."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (17, 28, 28), np.uint8)
    labels = rng.integers(0, 10, 17).astype(np.uint8)
    return (images[:12], labels[:12]), (images[12:], labels[12:])


def idx(array: np.ndarray) -> bytes:
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def write_idx(folder: Path, *, compressed: bool) -> None:
    folder.mkdir(parents=True)
    for part, (images, labels) in zip(("train", "t10k"), small_arrays(), strict=True):
        for name, array in ((f"{part}-images-idx3-ubyte", images), (f"{part}-labels-idx1-ubyte", labels)):
            data = idx(array)
            (folder / (f"{name}.gz" if compressed else name)).write_bytes(gzip.compress(data) if compressed else data)


def write_npz(file: Path) -> None:
    (x_train, y_train), (x_test, y_test) = small_arrays()
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(file, x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without any data."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("UNISONO_DATASETS", raising=False)
    monkeypatch.delenv("KERAS_HOME", raising=False)
    return tmp_path
