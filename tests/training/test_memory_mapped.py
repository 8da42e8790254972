"""Files larger than memory: only the rows that are needed are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unisono.data import Dataset

ROWS, WIDTH = 2**24, 1024  # 64 GiB of float32, nearly all of it sparse


@pytest.fixture
def large(tmp_path: Path) -> np.ndarray:
    path = tmp_path / "large.npy"
    try:
        written = np.lib.format.open_memmap(path, mode="w+", dtype="float32", shape=(ROWS, WIDTH))
    except OSError as error:
        pytest.skip(f"this disk has no sparse files: {error}")
    written[:8] = np.arange(8)[:, None]
    written[-2:] = 7
    del written
    return np.load(path, mmap_mode="r")


def test_elements_of_a_mapped_file_are_read_one_by_one(large: np.ndarray) -> None:
    dataset = Dataset.from_tensor_slices(large).map(lambda x: x * 2).batch(4)
    assert [float(batch[0, 0]) for batch in dataset.take(2)] == [0.0, 8.0]
    assert float(next(iter(dataset.skip(ROWS // 4 - 1)))[-1, -1]) == 14.0
    assert len(dataset) == ROWS // 4


def test_training_reads_only_the_rows_of_its_steps(probe: Any, every_step: Any, large: np.ndarray) -> None:
    dataset = Dataset.from_tensor_slices(large).batch(4)
    probe.fit(dataset, steps_per_epoch=2, callbacks=[every_step], verbose=0)
    assert every_step.column("sum") == [6.0 * WIDTH, 22.0 * WIDTH]


def test_arrays_of_an_npz_file_are_a_dataset(tmp_path: Path) -> None:
    np.savez(tmp_path / "xy.npz", x=np.arange(6).reshape(3, 2), y=np.arange(3))
    with np.load(tmp_path / "xy.npz") as arrays:
        dataset = Dataset.from_tensor_slices(dict(arrays))
    assert [(row["x"].tolist(), int(row["y"])) for row in dataset] == [([0, 1], 0), ([2, 3], 1), ([4, 5], 2)]
