"""The power fails at any moment: what was committed is on the disk, and nothing there is half of a checkpoint."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.state.store._power_failure import IMAGES, Disk
from unisono._src.state.store import (
    ArrayInPieces,
    BadCheckpoint,
    CheckpointSeries,
    Piece,
    StagedParts,
    _replace,
    commit,
    staged_file,
    write_part,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


class Checked:
    """Looks at the images of a disk at every moment, and counts them."""

    def __init__(self, folder: Path, images: Path, check: Callable[[Path], None]) -> None:
        self.root, self.moments = folder, 0
        self._images, self._check, self._numbers = images, check, itertools.count()

    def __call__(self, disk: Disk) -> None:
        self.moments += 1
        for kind in IMAGES:
            image = self._images / f"{next(self._numbers)}-{kind}"
            disk.write_image(kind, image)
            self._check(image)


@pytest.fixture
def disk_root(tmp_path: Path) -> Path:
    root = tmp_path / "disk"
    root.mkdir()
    return root


def save(series: CheckpointSeries, step: int) -> None:
    arrays = {"weights": np.full(500, step, "float32"), "count": np.array(step)}
    commit(series.path(step), arrays=arrays, state={"step": step}, step=step)


def save_in_parts(series: CheckpointSeries, step: int) -> None:
    half = np.full(250, step, "float32")
    pieces = (Piece(0, ((0, 250),)), Piece(1, ((250, 500),)))
    arrays = [{"weights": ArrayInPieces((500,), half.dtype, pieces, {part: half})} for part in (0, 1)]
    staged = StagedParts(series.path(step), ("one", "other"))
    for part in (0, 1):
        write_part(staged.path, part, 2, arrays[part])
    staged.commit(arrays=arrays[0], state={"step": step}, step=step)


@pytest.mark.slow
@pytest.mark.parametrize("save", [save, save_in_parts])
@pytest.mark.parametrize("parent", ["ckpt", "runs/mnist/ckpt"])
def test_a_checkpoint_is_on_the_disk_when_commit_returns(
    parent: str, save: Any, disk_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    series, done = CheckpointSeries(disk_root / parent), 0

    def check(image: Path) -> None:
        good, bad = CheckpointSeries(image / parent).load_newest_good()
        assert not bad, (image, bad)
        step = good.step if good else 0
        assert done <= step <= done + 1, image
        if good:
            assert (good.arrays["weights"] == step).all()
            assert good.state == {"step": step}

    moments = Checked(disk_root, tmp_path / "images", check)
    disk = Disk(disk_root, moments)
    with disk.recording(monkeypatch):
        for step in (1, 2, 3):
            save(series, step)
            done = step
            disk.moment()
            series.prune(keep=2)
            disk.moment()
    assert moments.moments > 40


@pytest.mark.parametrize("can_swap", [True, False])
def test_a_checkpoint_that_is_replaced_is_the_old_one_or_the_new_one(
    can_swap: bool, disk_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, done = disk_root / "ckpt" / "step-1", 1.0
    commit(folder, arrays={"weights": np.ones(500)}, step=1)
    if not can_swap:
        monkeypatch.setattr(_replace, "swap_names", lambda one, other: False)

    def check(image: Path) -> None:
        good, bad = CheckpointSeries(image / "ckpt").load_newest_good()
        assert good is not None, image
        assert not bad, (image, bad)
        assert set(good.arrays["weights"]) in ([{done}, {done + 1}] if done == 1 else [{done}]), image

    moments = Checked(disk_root, tmp_path / "images", check)
    disk = Disk(disk_root, moments)
    with disk.recording(monkeypatch):
        commit(folder, arrays={"weights": np.full(500, 2.0)}, step=1)
        done = 2.0
        disk.moment()


def test_a_staged_file_is_the_old_one_or_the_new_one(
    disk_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = ""

    def check(image: Path) -> None:
        path = image / "export" / "model.keras"
        found = path.read_text() if path.exists() else ""
        assert found in ({"": {"", "first"}, "first": {"first", "second"}, "second": {"second"}}[done]), image

    moments = Checked(disk_root, tmp_path / "images", check)
    disk = Disk(disk_root, moments)
    with disk.recording(monkeypatch):
        for text in ("first", "second"):
            with staged_file(disk_root / "export" / "model.keras") as temporary:
                temporary.write_text(text)
            done = text
            disk.moment()


def test_the_model_of_a_disk_loses_what_was_not_synced(
    disk_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the tests above can fail: the same without a sync leaves nothing, or a file that is empty."""
    disk = Disk(disk_root)
    with disk.recording(monkeypatch):
        monkeypatch.setattr("unisono._src.state.store._durable.os.fsync", lambda fd: None)
        save(CheckpointSeries(disk_root / "ckpt"), 1)
        for kind in IMAGES:
            disk.write_image(kind, tmp_path / kind)
    assert list((tmp_path / "synced").iterdir()) == []
    good, bad = CheckpointSeries(tmp_path / "names" / "ckpt").load_newest_good()
    assert good is None
    assert [type(error) for error in bad] == [BadCheckpoint]
