"""A small MNIST, which the clone's would be too slow to read for each test."""

from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with twenty digits and ten, and nothing else to be found."""
    images = np.arange(30, dtype=np.uint8)[:, None, None] * np.ones((28, 28), np.uint8)
    labels = (np.arange(30) % 10).astype(np.uint8)
    arrays = {"x_train": images[:20], "y_train": labels[:20], "x_test": images[20:], "y_test": labels[20:]}
    np.savez(tmp_path / "mnist.npz", **arrays)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("UNISONO_DATASETS", str(tmp_path))
    return tmp_path
