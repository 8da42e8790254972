"""Datasets of what files contain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from unisono.data import Dataset, FixedLengthRecordDataset, TextLineDataset


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(6):
        (tmp_path / f"{number}.txt").write_text(f"{number}0\n{number}1\n")
    return tmp_path


def read(dataset: Dataset) -> list[bytes]:
    return [line.item() for line in dataset]


@pytest.mark.parametrize("make", [TextLineDataset, lambda names: FixedLengthRecordDataset(names, 3)])
def test_files_whose_names_are_shuffled_come_in_another_order_in_each_pass(make: Any, folder: Path) -> None:
    lines = make(Dataset.list_files(str(folder / "*.txt"), seed=1))
    passes = [[line[:2] for line in read(lines)] for _ in range(4)]
    assert len({tuple(each) for each in passes}) > 1
    for each in passes:
        assert sorted(each) == [f"{number}{line}".encode() for number in range(6) for line in range(2)]
        assert [line[:1] for line in each[::2]] == [line[:1] for line in each[1::2]], "each file is read to its end"


def test_names_may_come_in_batches(folder: Path) -> None:
    names = Dataset.list_files(str(folder / "*.txt"), shuffle=False)
    assert read(TextLineDataset(names.batch(4))) == read(TextLineDataset(names))
    assert str(TextLineDataset(names)._plan) == "6 rows -> TextLineDataset()"


def test_a_file_that_does_not_exist_is_named() -> None:
    lines = TextLineDataset(Dataset.from_tensor_slices(["missing.txt"]))
    with pytest.raises(FileNotFoundError, match=r"TextLineDataset: there is no file 'missing.txt'"):
        read(lines)
