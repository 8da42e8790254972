"""Writing snapshots: with the chief's patience for parts that do not come."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unisono._src.processes import Processes
from unisono._src.state.checkpoint import CheckpointWriter, Snapshot, _writer
from unisono._src.state.store import ArrayInPieces, CheckpointError, Piece, load, write_part

HALF = np.arange(4.0)
PIECES = (Piece(0, ((0, 4),)), Piece(1, ((4, 8),)))


@pytest.fixture
def chief_of_two(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """This process takes itself for the chief of two, of which the other one is there in name. The staging folders."""
    made: list[Path] = []

    def run_on_chief(function: Any) -> Any:
        result = function()
        made.append(Path(result))
        return result

    monkeypatch.setattr(_writer, "processes", lambda: Processes(0, ("chief", "worker 1")))
    monkeypatch.setattr(_writer, "run_on_chief", run_on_chief)
    monkeypatch.setattr(_writer, "all_gather_json", lambda value: [value, None])
    return made


def snapshot(part: int) -> Snapshot:
    return Snapshot({"x": ArrayInPieces((8,), HALF.dtype, PIECES, {part: HALF + 4 * part})}, {"epoch": 1})


def test_a_failed_process_does_not_wait_for_the_part_of_one_that_may_have_failed_too(
    tmp_path: Path, chief_of_two: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_writer, "_GRACE_SECONDS", 0.05)
    writer = CheckpointWriter()
    writer.start(snapshot(0), 1, lambda: tmp_path / "ckpt")
    with pytest.raises(CheckpointError, match="another process could not write its part, or has ended"):
        writer.close()
    assert os.listdir(tmp_path) == []
    writer.close()  # raised once


def test_a_failed_process_completes_what_all_have_written(tmp_path: Path, chief_of_two: list[Path]) -> None:
    writer, after = CheckpointWriter(), []
    writer.start(snapshot(0), 1, lambda: tmp_path / "ckpt", after=lambda: after.append(1))
    write_part(chief_of_two[0], 1, 2, snapshot(1).arrays)
    writer.close()
    assert load(tmp_path / "ckpt").arrays["x"].tolist() == list(range(8))
    assert after == [1]
    assert os.listdir(tmp_path) == ["ckpt"]


def test_an_error_in_the_part_of_another_process_is_known_before_it_is_waited_for(
    tmp_path: Path, chief_of_two: list[Path]
) -> None:
    writer = CheckpointWriter()
    writer.start(snapshot(0), 1, lambda: tmp_path / "ckpt")
    with pytest.raises(TypeError):
        write_part(chief_of_two[0], 1, 2, {"x": ArrayInPieces((1,), np.dtype("O"), PIECES, {0: np.array([None])})})
    while not writer.has_failed():
        time.sleep(0.001)
    with pytest.raises(CheckpointError, match="worker 1 could not write its part"):
        writer.wait()
    assert os.listdir(tmp_path) == []
