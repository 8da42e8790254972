"""Text in batches: each element of them is its text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from unisono.data import Dataset, TextLineDataset

LINES = ["one", "twenty-two", "", "three"]


@pytest.fixture
def lines(tmp_path: Path) -> TextLineDataset:
    (tmp_path / "lines.txt").write_text("\n".join(LINES) + "\n")
    return TextLineDataset(tmp_path / "lines.txt")


def as_text(values: np.ndarray) -> list[str]:
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values.tolist()]


def test_lines_of_a_file_are_batched(lines: TextLineDataset) -> None:
    assert [as_text(batch) for batch in lines.batch(3)] == [LINES[:3], LINES[3:]]


def test_lines_of_a_file_are_batched_with_padding(lines: TextLineDataset) -> None:
    assert [as_text(batch) for batch in lines.padded_batch(3, padded_shapes=())] == [LINES[:3], LINES[3:]]


def test_what_a_function_makes_of_text_is_batched(lines: TextLineDataset) -> None:
    upper = lines.map(lambda line: np.array(line.item().upper(), object)).batch(4)
    assert [as_text(batch) for batch in upper] == [[line.upper() for line in LINES]]


def test_a_column_of_text_is_text() -> None:
    (batch,) = Dataset.from_tensor_slices(np.array(LINES, object)).batch(4)
    assert as_text(batch) == LINES
