"""A series of checkpoints in one folder: which there are, which is good, which go."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from unisono._src.state.store import CheckpointError, CheckpointSeries, commit, load, remove


@pytest.fixture
def series(tmp_path: Path) -> CheckpointSeries:
    series = CheckpointSeries(tmp_path / "ckpt")
    for step in (1, 2, 9, 10):
        commit(series.path(step), arrays={"x": np.full(3, step)}, step=step)
    return series


def test_steps_are_numbers_in_order_and_read_from_the_disk(series):
    assert series.steps() == [1, 2, 9, 10]
    commit(series.path(3), arrays={})
    remove(series.path(10))
    shutil.rmtree(series.path(1))
    assert series.steps() == [2, 3, 9]


def test_a_folder_that_is_not_there_has_no_steps(tmp_path):
    series = CheckpointSeries(tmp_path / "nothing")
    assert series.steps() == []
    assert series.load_newest_good() == (None, [])
    series.prune(1)
    assert os.listdir(tmp_path) == []


def test_a_file_with_the_name_of_the_folder_is_an_error(tmp_path):
    (tmp_path / "ckpt").touch()
    with pytest.raises(CheckpointError, match="could not be listed: Not a directory"):
        CheckpointSeries(tmp_path / "ckpt").steps()


@pytest.mark.parametrize(
    "name", ["step-007", "step-+7", "step-7x", "xstep-7", "step--7", "step-٧", "step-7.5", "step-", "7"]
)
def test_only_prefix_and_digits_is_a_name(series, name):
    commit(series.folder / name, arrays={})
    assert series.steps() == [1, 2, 9, 10]
    series.prune(1)
    assert os.path.exists(series.folder / name)


def test_series_of_one_folder_do_not_see_each_other(series):
    other = CheckpointSeries(series.folder, "st.p")
    assert other.steps() == []
    commit(other.path(5), arrays={})
    other.prune(1)
    assert other.steps() == [5]
    assert series.steps() == [1, 2, 9, 10]


@pytest.mark.parametrize("prefix", ["", "a/b", ".hidden", ".."])
def test_a_prefix_that_is_no_plain_name_is_refused(tmp_path, prefix):
    with pytest.raises(ValueError, match="Expected a plain name"):
        CheckpointSeries(tmp_path, prefix)


def test_what_has_no_manifest_is_not_there(series):
    (series.folder / "step-11").mkdir()
    (series.folder / "step-12").touch()
    (series.folder / "step-13" / "manifest.json").mkdir(parents=True)
    assert series.steps() == [1, 2, 9, 10]


def test_the_newest_good_one_comes_with_what_is_wrong_with_the_newer_ones(series):
    os.truncate(series.path(10) / "arrays.safetensors", 3)
    os.unlink(series.path(9) / "state.json")
    good, bad = series.load_newest_good()
    assert good is not None
    assert good.step == 2
    assert [(error.folder.name, error.reason) for error in bad] == [
        ("step-10", "arrays.safetensors is damaged: it has 3 bytes, expected 88."),
        ("step-9", "state.json is missing."),
    ]


def test_no_good_one_is_none_and_all_reasons(series):
    for step in series.steps():
        (series.path(step) / "manifest.json").write_text("{}")
    good, bad = series.load_newest_good()
    assert good is None
    assert len(bad) == 4


def test_prune_keeps_the_newest(series):
    series.prune(None)
    assert series.steps() == [1, 2, 9, 10]
    series.prune(7)
    assert series.steps() == [1, 2, 9, 10]
    series.prune(2)
    assert series.steps() == [9, 10]
    assert sorted(os.listdir(series.folder)) == ["step-10", "step-9"]
    assert os.listdir(series.folder.parent) == ["ckpt"]


def test_prune_never_touches_those_it_is_to_spare(series):
    series.prune(1, spare={1, 10, 99})
    assert series.steps() == [1, 10]


@pytest.mark.parametrize("keep", [0, -1])
def test_to_keep_none_is_refused(series, keep):
    with pytest.raises(ValueError, match=f"keep is {keep}. Expected 1 or more"):
        series.prune(keep)
    assert series.steps() == [1, 2, 9, 10]


@pytest.mark.parametrize("name", ["arrays.safetensors", "state.json", "manifest.json"])
def test_good_ones_are_not_given_up_for_those_that_are_incomplete(series, name):
    os.truncate(series.path(10) / name, 3)
    series.prune(1)
    good, _ = series.load_newest_good()
    assert good is not None
    assert good.step == 9
    assert series.steps() == [9, 10]


def test_prune_touches_nothing_without_a_manifest_of_ours(series):
    (series.path(2) / "manifest.json").write_text('{"format": "somebody else\'s"}')
    (series.path(1) / "manifest.json").write_text("not even JSON")
    (series.folder / "step-0").mkdir()
    (series.folder / "notes.txt").touch()
    series.prune(1)
    assert sorted(os.listdir(series.folder)) == ["notes.txt", "step-0", "step-1", "step-10", "step-2"]


def test_prune_and_remove_never_follow_a_link(series, tmp_path):
    commit(tmp_path / "archive" / "step-3", arrays={}, step=3)
    series.path(3).symlink_to(tmp_path / "archive" / "step-3")
    assert 3 in series.steps()
    series.prune(1)
    assert os.path.islink(series.path(3))
    with pytest.raises(CheckpointError, match="was not deleted"):
        remove(series.path(3))
    assert load(tmp_path / "archive" / "step-3").step == 3


def test_a_link_within_a_checkpoint_goes_and_its_target_stays(series, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    (series.path(1) / "link").symlink_to(tmp_path / "precious")
    remove(series.path(1))
    assert not os.path.exists(series.path(1))
    assert os.listdir(tmp_path / "precious") == ["file"]


@pytest.mark.parametrize("what", ["nothing", "a file", "an empty folder", "a folder"])
def test_only_checkpoints_can_be_removed(tmp_path, what):
    path = tmp_path / "ckpt" / "x"
    path.parent.mkdir()
    match what:
        case "a file":
            path.touch()
        case "an empty folder":
            path.mkdir()
        case "a folder":
            path.mkdir()
            (path / "arrays.safetensors").touch()
    before = os.listdir(path.parent)
    with pytest.raises(CheckpointError, match=r"'.*x' was not deleted: it is not a folder with a manifest"):
        remove(path)
    assert os.listdir(path.parent) == before


def test_a_damaged_checkpoint_can_be_removed(series):
    os.truncate(series.path(10) / "arrays.safetensors", 3)
    remove(series.path(10))
    assert series.steps() == [1, 2, 9]
