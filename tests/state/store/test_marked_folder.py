"""Checkpoints on file systems that cannot rename a folder: the manifest is written last, and makes them exist.

Here `os.rename` refuses folders: every rename of the store is one of Python's, and so every error that such a file
system may answer with can be tried. `test_bucket_mounts.py` has real ones.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.state.store._power_failure import IMAGES, Disk
from tests.state.store.test_parts import NAMES, arrays_of
from unisono._src.state.store import (
    BadCheckpoint,
    CheckpointError,
    CheckpointSeries,
    StagedParts,
    commit,
    identify_files,
    load,
    remove,
    staged_file,
    write_part,
)

VARIABLE = "UNISONO_CHECKPOINT_COMMIT"


class FolderRenames:
    """`os.rename` and `os.replace` that refuse folders, and count how often that was tried."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.code, self.tried, self.files_too = errno.EOPNOTSUPP, 0, False
        for name in ("rename", "replace"):
            monkeypatch.setattr(os, name, self._refuse(getattr(os, name)))

    def _refuse(self, rename: Callable[..., None]) -> Callable[..., None]:
        def refuse(source: Any, target: Any, **options: Any) -> None:
            if os.path.isdir(source):
                self.tried += 1
            if self.code and (os.path.isdir(source) or self.files_too):
                raise OSError(self.code, os.strerror(self.code), os.fspath(source), None, os.fspath(target))
            rename(source, target, **options)

        return refuse


@pytest.fixture
def renames(monkeypatch: pytest.MonkeyPatch) -> FolderRenames:
    return FolderRenames(monkeypatch)


def save(folder: Path, step: int, value: int | None = None) -> None:
    value = step if value is None else value
    commit(folder, arrays={"weights": np.full(500, value, "float32")}, state={"value": value}, step=step)


def save_in_parts(folder: Path, step: int, value: int | None = None) -> None:
    value = step if value is None else value
    staged = StagedParts(folder, NAMES)
    for part in (2, 0, 1):
        write_part(staged.path, part, 3, arrays_of(part))
    staged.commit(arrays=arrays_of(0), state={"value": value}, step=step)


SAVES = [save, save_in_parts]


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text())


@pytest.mark.parametrize(
    ("code", "save"),
    [(code, save) for code in ("EOPNOTSUPP", "ENOSYS", "EPERM", "EACCES", "EXDEV", "EIO", "EMFILE", "EINVAL", "EBUSY")]
    + [("EOPNOTSUPP", save_in_parts)],
)
def test_where_the_rename_is_refused_the_manifest_completes_a_checkpoint(
    code: str, save: Callable[..., None], renames: FolderRenames, tmp_path: Path
) -> None:
    renames.code = getattr(errno, code)
    series = CheckpointSeries(tmp_path / "ckpt")
    for step in (1, 2, 3):
        save(series.path(step), step)
        series.prune(keep=2)
    assert renames.tried == 1  # for the folder of the series, and not again
    assert series.steps() == [2, 3]
    good, bad = series.load_newest_good()
    assert good is not None
    assert (good.step, good.state, bad) == (3, {"value": 3}, [])
    found = manifest(series.path(3))
    assert found["version"] == 3
    expected = (
        ["arrays.safetensors"] if save is SAVES[0] else [f"arrays-0000{n}-of-00003.safetensors" for n in range(3)]
    )
    data = found["body"]["data"]
    assert files(series.path(3)) == sorted([*(f"{data}/{name}" for name in (*expected, "state.json")), "manifest.json"])
    series.clear()
    assert os.listdir(tmp_path / "ckpt") == []
    assert os.listdir(tmp_path) == ["ckpt"]


@pytest.mark.parametrize("save", SAVES)
def test_files_need_not_be_renamed_either(save: Callable[..., None], renames: FolderRenames, tmp_path: Path) -> None:
    renames.files_too, renames.code = True, errno.ENOSYS
    for value in (1, 2):
        save(tmp_path / "ckpt" / "latest", 1, value)
        assert load(tmp_path / "ckpt" / "latest").state == {"value": value}
        with staged_file(tmp_path / "ckpt" / "model.keras") as temporary:
            temporary.write_text(f"model {value}")
        assert (tmp_path / "ckpt" / "model.keras").read_text() == f"model {value}"
    assert len(files(tmp_path)) == (4 if save is SAVES[0] else 6)


def test_a_full_disk_is_not_taken_for_one_that_cannot_rename(renames: FolderRenames, tmp_path: Path) -> None:
    renames.code = errno.ENOSPC
    with pytest.raises(CheckpointError, match="No space left on device"):
        save(tmp_path / "ckpt" / "step-1", 1)
    renames.code = 0
    save(tmp_path / "ckpt" / "step-1", 1)
    assert manifest(tmp_path / "ckpt" / "step-1")["version"] == 1


def test_a_rename_that_leaves_the_old_folder_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "rename", lambda source, target: shutil.copytree(source, target))
    save(tmp_path / "ckpt" / "step-1", 1)
    assert manifest(tmp_path / "ckpt" / "step-1")["version"] == 3


def test_mounts_that_copy_a_folder_and_call_it_a_rename_are_known_by_name(tmp_path: Path, mount: Any) -> None:
    folder = mount(tmp_path / "bucket", "-t", "tmpfs", "s3fs")
    save(folder / "ckpt" / "step-1", 1)
    assert manifest(folder / "ckpt" / "step-1")["version"] == 3


def test_a_variable_says_how_to_commit(renames: FolderRenames, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    renames.code = 0
    monkeypatch.setenv(VARIABLE, "marker")
    save(tmp_path / "ckpt" / "step-1", 1)
    assert (manifest(tmp_path / "ckpt" / "step-1")["version"], renames.tried) == (3, 0)
    monkeypatch.setenv(VARIABLE, "rename")
    save(tmp_path / "ckpt" / "step-2", 2)
    assert manifest(tmp_path / "ckpt" / "step-2")["version"] == 1
    renames.code = errno.EOPNOTSUPP
    with pytest.raises(CheckpointError, match="Operation not supported"):
        save(tmp_path / "ckpt" / "step-3", 3)
    monkeypatch.setenv(VARIABLE, "always")
    with pytest.raises(ValueError, match="UNISONO_CHECKPOINT_COMMIT='always' is not known"):
        save(tmp_path / "ckpt" / "step-3", 3)


def test_checkpoints_of_both_kinds_replace_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "ckpt" / "step-1"
    for value, (method, save) in enumerate(itertools.product(["rename", "marker", "rename", "marker"], SAVES)):
        monkeypatch.setenv(VARIABLE, method)
        save(folder, 1, value)
        assert load(folder).state == {"value": value}
        assert len(files(folder)) == (3 if save is SAVES[0] else 5)
        assert (manifest(folder)["version"] == 3) == (method == "marker")
    for method in ("rename", "marker"):
        for written in ("rename", "marker"):
            monkeypatch.setenv(VARIABLE, written)
            save(folder, 1)
            monkeypatch.setenv(VARIABLE, method)
            remove(folder)
            assert os.listdir(tmp_path / "ckpt") == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("save", [save, pytest.param(save_in_parts, marks=pytest.mark.full)])
def test_killed_at_any_moment_there_is_the_old_checkpoint_or_the_new_one(
    save: Callable[..., None], renames: FolderRenames, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill leaves the files as they are, a power failure what was synced: the images of before and after every
    change of a name and every sync."""
    root, done, images, num_moments, seen = tmp_path / "disk", (0, 0), itertools.count(), 0, set()
    root.mkdir()
    target = done

    def check(disk: Disk) -> None:
        nonlocal num_moments
        num_moments += 1
        for kind in (*IMAGES, "killed"):
            image = tmp_path / "images" / f"{next(images)}-{kind}"
            if kind == "killed":
                shutil.copytree(root, image)
            else:
                disk.write_image(kind, image)
            contents = [
                (str(path.relative_to(image)), path.is_file() and path.read_bytes()) for path in image.rglob("*")
            ]
            if (state := (done, target, tuple(sorted(contents)))) in seen:
                continue
            seen.add(state)
            series = CheckpointSeries(image / "ckpt")
            good, bad = series.load_newest_good()
            assert bad == [], image
            found = (good.step, good.state["value"]) if good else (0, 0)
            assert found in (done, target), image
            # The next writer finds nothing in its way, and clears up.
            SAVES[0](series.path(found[0] + 1), found[0] + 1)
            series.prune(keep=1)
            assert len(files(series.folder)) == 3, image
            assert len(os.listdir(series.folder)) == 1, image

    series = CheckpointSeries(root / "ckpt")
    disk = Disk(root, check)
    with disk.recording(monkeypatch):
        for target in ((1, 1), (2, 2), (2, 20)):
            save(series.path(target[0]), *target)
            done = target
            disk.moment()
            series.prune(keep=1)
            disk.moment()
    assert num_moments > 60


def test_what_a_killed_writer_left_is_deleted_by_the_next_and_nothing_else_is(
    renames: FolderRenames, tmp_path: Path
) -> None:
    series = CheckpointSeries(tmp_path / "ckpt")
    for step in (2, 9):
        save(series.path(step), step)
    left = "0123456789abcdef"
    for step in (1, 2, 5, 10):  # 10 may be being written
        (series.path(step) / left).mkdir(parents=True)
        for name in (f"{left}/arrays.safetensors", f"{left}/state.json", f"{left}.part-3", f"{left}.begun"):
            (series.path(step) / name).touch()
    (series.path(5) / "notes.txt").write_text("mine")
    (series.path(5) / left / "notes.txt").write_text("mine")
    (tmp_path / "ckpt" / "other-1" / left).mkdir(parents=True)
    (tmp_path / "ckpt" / "other-1" / left / "state.json").touch()
    series.prune(keep=5)
    assert not series.path(1).exists()
    assert files(series.path(5)) == [f"{left}/notes.txt", "notes.txt"]
    assert len(files(series.path(10))) == 4
    assert files(tmp_path / "ckpt" / "other-1") == [f"{left}/state.json"]
    with pytest.raises(CheckpointError, match="is not a checkpoint, but holds"):
        save(series.path(5), 5)
    save(series.path(2), 2)
    save(series.path(10), 10)
    assert len(files(series.path(2))) == len(files(series.path(10))) == 3
    assert series.steps() == [2, 9, 10]


def test_a_link_in_place_of_the_folder_of_the_files_is_refused(renames: FolderRenames, tmp_path: Path) -> None:
    folder = tmp_path / "ckpt" / "step-1"
    save(folder, 1)
    data = folder / manifest(folder)["body"]["data"]
    shutil.move(data, tmp_path / "elsewhere")
    data.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadCheckpoint, match="is a link, where a folder is expected"):
        load(folder)


def test_a_copy_on_a_disk_is_the_same_checkpoint(
    renames: FolderRenames, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_in_parts(tmp_path / "bucket" / "step-1", 1)
    copy = Path(shutil.copytree(tmp_path / "bucket", tmp_path / "disk")) / "step-1"
    renames.code = 0
    assert load(copy).state == {"value": 1}
    assert identify_files(copy) == identify_files(tmp_path / "bucket" / "step-1")
    series = CheckpointSeries(tmp_path / "disk")
    save(series.path(2), 2)
    series.prune(keep=1)
    assert series.steps() == [2]


def test_a_job_that_deletes_what_another_is_writing_does_not_leave_half_a_checkpoint(
    renames: FolderRenames, tmp_path: Path
) -> None:
    """Two jobs that write the same checkpoint: the first to begin finds its files gone, and says so."""
    first = StagedParts(tmp_path / "ckpt" / "step-1", NAMES[:1])
    write_part(first.path, 0, 1, {"x": np.ones(3)})
    save(tmp_path / "ckpt" / "step-1", 1)
    first.abandon()  # its report is gone too: the wait would not end
    with pytest.raises(CheckpointError):
        first.commit(arrays={"x": np.ones(3)})
    first.close()
    assert load(tmp_path / "ckpt" / "step-1").state == {"value": 1}
