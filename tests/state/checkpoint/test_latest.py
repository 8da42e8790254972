"""Finding the newest checkpoint in a folder, and each newer one."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from unisono.checkpoint import Checkpoint, checkpoints_iterator, latest_checkpoint


def written(folder: Path, *names: str) -> None:
    for name in names:
        Checkpoint(step=1).write(folder / name)


def test_an_empty_folder_or_none_has_no_latest(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path) is None
    assert latest_checkpoint(tmp_path / "missing") is None
    (tmp_path / "file").touch()
    assert latest_checkpoint(tmp_path / "file") is None


@pytest.mark.parametrize(
    ("names", "latest"),
    [
        (["ckpt-9", "ckpt-10", "ckpt-2"], "ckpt-10"),
        (["ckpt_10", "ckpt_9"], "ckpt_10"),
        (["cp-0010.ckpt", "cp-0009.ckpt"], "cp-0010.ckpt"),
        (["ckpt-3", "best"], "ckpt-3"),
    ],
)
def test_the_highest_number_is_the_latest(tmp_path: Path, names: list[str], latest: str) -> None:
    written(tmp_path, *names)
    assert latest_checkpoint(str(tmp_path)) == str(tmp_path / latest)


def test_of_equal_numbers_the_one_written_last_counts(tmp_path: Path) -> None:
    written(tmp_path, "b-3", "a-3")
    os.utime(tmp_path / "b-3", (1, 1))
    assert latest_checkpoint(tmp_path) == str(tmp_path / "a-3")
    os.utime(tmp_path / "a-3", (0, 0))
    assert latest_checkpoint(tmp_path) == str(tmp_path / "b-3")


def test_what_has_no_manifest_does_not_exist(tmp_path: Path) -> None:
    written(tmp_path, "ckpt-1", "ckpt-2")
    (tmp_path / "ckpt-2" / "manifest.json").unlink()
    (tmp_path / "ckpt-3").mkdir()
    assert latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-1")


def test_the_iterator_gives_each_newer_one_and_ends_after_the_timeout(tmp_path: Path) -> None:
    written(tmp_path, "ckpt-1")
    seen = []
    for path in checkpoints_iterator(tmp_path, timeout=0.5):
        seen.append(Path(path).name)
        if len(seen) < 3:
            written(tmp_path, f"ckpt-{len(seen) + 1}")
    assert seen == ["ckpt-1", "ckpt-2", "ckpt-3"]


def test_the_iterator_waits_for_the_first(tmp_path: Path) -> None:
    thread = threading.Timer(0.3, written, (tmp_path / "later", "ckpt-1"))
    thread.start()
    found = next(checkpoints_iterator(tmp_path / "later", timeout=30))
    thread.join()
    assert Path(found).name == "ckpt-1"


def test_after_a_timeout_the_function_is_asked(tmp_path: Path) -> None:
    answers = [False, False, True]
    assert list(checkpoints_iterator(tmp_path, timeout=0.01, timeout_fn=lambda: answers.pop(0))) == []
    assert not answers
