"""How a checkpoint is written, and what is refused."""

import errno
import json
import os
from enum import IntEnum
from pathlib import Path

import numpy as np
import pytest

import unisono._src.state.store._load
import unisono._src.state.store._replace
from unisono._src.state.store import BadCheckpoint, CheckpointError, commit, is_committed, load, remove


def test_only_the_checkpoint_is_there_afterwards(tmp_path):
    commit(tmp_path / "deep" / "er" / "ckpt" / "step-5", arrays={"x": np.zeros(3)}, state=1)
    assert os.listdir(tmp_path / "deep" / "er") == ["ckpt"]
    assert os.listdir(tmp_path / "deep" / "er" / "ckpt") == ["step-5"]
    assert sorted(os.listdir(tmp_path / "deep" / "er" / "ckpt" / "step-5")) == [
        "arrays.safetensors",
        "manifest.json",
        "state.json",
    ]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_all_files_have_the_permissions_that_the_user_gives_to_new_files(tmp_path, mask):
    before = os.umask(mask)
    try:
        commit(tmp_path / "step-1", arrays={"x": np.zeros(3)})
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "step-1").iterdir()} == {0o666 & ~mask}


def test_a_relative_path_is_meant_from_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commit("step-5", arrays={}, state=1)
    assert load("step-5").state == 1
    assert os.listdir(tmp_path) == ["step-5"]


def test_the_manifest_is_strict_json_with_what_it_promises(tmp_path):
    commit(tmp_path / "c", arrays={"x": np.zeros((2, 3), np.float32)}, state=float("nan"), step=4)
    manifest = json.loads((tmp_path / "c" / "manifest.json").read_text())
    assert (manifest["format"], manifest["version"]) == ("unisono-checkpoint", 1)
    body = manifest["body"]
    assert body["step"] == 4
    assert body["arrays"] == {"x": {"shape": [2, 3], "dtype": "float32"}}
    assert body["files"]["arrays.safetensors"]["bytes"] == (tmp_path / "c" / "arrays.safetensors").stat().st_size
    assert "NaN" not in (tmp_path / "c" / "state.json").read_text()


def test_safetensors_alone_can_read_the_arrays(tmp_path):
    from safetensors.numpy import load_file

    commit(tmp_path / "c", arrays={"dense/kernel": np.arange(6.0).reshape(2, 3)})
    assert np.array_equal(
        load_file(tmp_path / "c" / "arrays.safetensors")["dense/kernel"], np.arange(6.0).reshape(2, 3)
    )


def test_the_same_content_again_leaves_the_folder_as_it_is(tmp_path):
    for _ in range(2):
        commit(tmp_path / "ckpt" / "c", arrays={"x": np.zeros(3)}, state={"a": 1}, step=3)
        inode = (tmp_path / "ckpt" / "c").stat().st_ino
    commit(tmp_path / "ckpt" / "c", arrays={"x": np.zeros(3)}, state={"a": 1}, step=3)
    assert (tmp_path / "ckpt" / "c").stat().st_ino == inode
    assert os.listdir(tmp_path) == ["ckpt"]


@pytest.mark.parametrize(
    "change",
    [{"arrays": {"x": np.ones(3)}}, {"state": {"a": 2}}, {"step": 4}, {"info": {"kept": "best"}}],
    ids=lambda change: next(iter(change)),
)
def test_other_content_replaces_the_folder(tmp_path, change):
    given = {"arrays": {"x": np.zeros(3)}, "state": {"a": 1}, "step": 3, "info": {}}
    commit(tmp_path / "ckpt" / "c", **given)
    commit(tmp_path / "ckpt" / "c", **{**given, **change})
    found = load(tmp_path / "ckpt" / "c")
    expected = {**given, **change}
    assert np.array_equal(found.arrays["x"], expected["arrays"]["x"])
    assert (found.state, found.step) == (expected["state"], expected["step"])
    assert expected["info"].items() <= found.info.items()
    assert os.listdir(tmp_path) == ["ckpt"]
    assert os.listdir(tmp_path / "ckpt") == ["c"]


def test_other_content_replaces_the_folder_where_names_cannot_be_swapped(tmp_path, monkeypatch):
    monkeypatch.setattr(unisono._src.state.store._replace, "swap_names", lambda one, other: False)  # as on NFS
    for state in (1, 2):
        commit(tmp_path / "ckpt" / "c", arrays={}, state=state)
        assert load(tmp_path / "ckpt" / "c").state == state
    assert os.listdir(tmp_path) == ["ckpt"]


def test_a_replacement_that_fails_half_way_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    folder = tmp_path / "ckpt" / "step-1"
    commit(folder, arrays={"x": np.zeros(3)}, step=1)
    rename = os.rename

    def fail_second_move(source, target, **options):
        if Path(target) == folder and not folder.exists() and Path(source).name == folder.name:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rename(source, target, **options)

    monkeypatch.setattr(unisono._src.state.store._replace, "swap_names", lambda one, other: False)
    monkeypatch.setattr(os, "rename", fail_second_move)
    with pytest.raises(CheckpointError, match="Input/output error"):
        commit(folder, arrays={"x": np.ones(3)}, step=2)
    assert load(folder).step == 1
    assert os.listdir(folder.parent) == ["step-1"]


@pytest.mark.parametrize("name", ["arrays.safetensors", "state.json", "manifest.json"])
@pytest.mark.parametrize("damage", ["cut", "deleted"])
def test_a_damaged_checkpoint_is_replaced_even_by_the_same_content(tmp_path, name, damage):
    commit(tmp_path / "c", arrays={"x": np.zeros(3)}, state=1)
    if damage == "cut":
        os.truncate(tmp_path / "c" / name, 5)
    else:
        os.unlink(tmp_path / "c" / name)
    with pytest.raises(BadCheckpoint):
        load(tmp_path / "c")
    commit(tmp_path / "c", arrays={"x": np.zeros(3)}, state=1)
    assert load(tmp_path / "c").state == 1


def test_an_empty_folder_of_that_name_is_used(tmp_path):
    (tmp_path / "c").mkdir()
    commit(tmp_path / "c", arrays={}, state=1)
    assert load(tmp_path / "c").state == 1


def test_a_folder_with_foreign_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "thesis.tex").write_text("years of work")
    with pytest.raises(CheckpointError, match=r"is not a checkpoint, but holds 'thesis\.tex'"):
        commit(tmp_path / "c", arrays={})
    assert (tmp_path / "c" / "thesis.tex").read_text() == "years of work"


def test_a_folder_with_the_name_of_one_of_the_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "c" / "state.json").mkdir(parents=True)
    (tmp_path / "c" / "state.json" / "thesis.tex").touch()
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        commit(tmp_path / "c", arrays={})
    assert (tmp_path / "c" / "state.json" / "thesis.tex").exists()


def test_a_link_of_that_name_is_refused(tmp_path):
    commit(tmp_path / "real", arrays={}, state=1)
    (tmp_path / "c").symlink_to(tmp_path / "real")
    with pytest.raises(CheckpointError, match="is a link"):
        commit(tmp_path / "c", arrays={}, state=2)
    assert load(tmp_path / "real").state == 1


def test_a_checkpoint_without_a_manifest_does_not_exist(tmp_path):
    commit(tmp_path / "c", arrays={})
    assert is_committed(tmp_path / "c")
    os.unlink(tmp_path / "c" / "manifest.json")
    assert not is_committed(tmp_path / "c")
    with pytest.raises(BadCheckpoint, match=r"it has no manifest\.json, so it was never completed"):
        load(tmp_path / "c")


class Colour(IntEnum):
    RED = 1


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"state": {"a": [1, np.int64(3)]}}, TypeError, r"state\['a'\]\[1\] is a numpy.int64.*x.item\(\)"),
        ({"state": {"a": {3: 4}}}, TypeError, r"state\['a'\] has the key 3, a int. .* write '3'"),
        ({"state": np.zeros(3)}, TypeError, "state is a numpy.ndarray.*among the arrays"),
        ({"state": {1, 2}}, TypeError, "builtins.set"),
        ({"state": b"x"}, TypeError, "builtins.bytes"),
        ({"state": 10**5000}, ValueError, "limit"),
        ({"arrays": {"x": np.array(["a"])}}, TypeError, "'x' has dtype <U1.*into `state`"),
        ({"arrays": {"x": np.array([object()])}}, TypeError, "'x' has dtype object"),
        ({"arrays": {"x": np.zeros(2, "i4,f4")}}, TypeError, "'x' has dtype"),
        ({"arrays": {"x": np.array("2020-01-01", "M8[D]")}}, TypeError, "'x' has dtype"),
        ({"arrays": {3: np.zeros(2)}}, TypeError, "the name 3, a int"),
        ({"arrays": {"__metadata__": np.zeros(2)}}, ValueError, "__metadata__"),
        ({"arrays": {"\ud800": np.zeros(2)}}, ValueError, "not valid text"),
        ({"step": -1}, ValueError, "step is -1"),
        ({"step": 1.5}, TypeError, "float"),
        ({"info": {"epoch": 3}}, TypeError, "write 'epoch': '3'"),
    ],
)
def test_what_cannot_come_back_is_refused_before_the_disk_is_touched(tmp_path, given, error, said):
    with pytest.raises(error, match=said):
        commit(tmp_path / "ckpt" / "c", **{"arrays": {}, **given})
    assert os.listdir(tmp_path) == []


def test_a_state_that_contains_itself_is_refused(tmp_path):
    state: list[object] = []
    state.append({"again": state})
    with pytest.raises(ValueError, match=r"state.*… is nested more than 100 levels deep, or contains itself"):
        commit(tmp_path / "c", arrays={}, state=state)


def test_a_state_as_deep_as_allowed_can_be_loaded(tmp_path):
    state: list[object] = []
    for _ in range(99):
        state = [state]
    commit(tmp_path / "c", arrays={}, state=[*state, Colour.RED])
    assert load(tmp_path / "c").state == [*state, 1]


@pytest.mark.slow
def test_a_reader_of_a_checkpoint_that_is_replaced_all_the_time_sees_one_or_the_other(tmp_path, child):
    writer = child(
        """
folder = Path(sys.argv[1])
for number in range(100000):
    commit(folder, arrays={"x": np.full(1000, number)}, state=number, step=number)
    if number == 3:
        print("going", flush=True)
""",
        tmp_path / "ckpt" / "latest",
    )
    assert writer.stdout.readline() == "going\n"
    steps: set[int] = set()
    while len(steps) < 20:
        stored = load(tmp_path / "ckpt" / "latest")
        assert stored.step == stored.state
        assert set(stored.arrays["x"]) == {stored.step}
        steps.add(stored.step)
        assert writer.poll() is None


def test_a_checkpoint_that_is_replaced_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    commit(tmp_path / "c", arrays={"x": np.zeros(3)}, state=0)
    plain = unisono._src.state.store._load.safe_open

    calls: list[object] = []

    def replace_first(path, **options):
        calls.append(path)
        if len(calls) < 3:
            commit(tmp_path / "c", arrays={"x": np.full(3, len(calls))}, state=len(calls))
        return plain(path, **options)

    monkeypatch.setattr(unisono._src.state.store._load, "safe_open", replace_first)
    stored = load(tmp_path / "c")
    assert stored.state == 2
    assert (stored.arrays["x"] == 2).all()
    assert len(calls) == 3


def test_a_checkpoint_that_is_removed_while_it_is_read_is_read_or_missing(tmp_path, monkeypatch):
    commit(tmp_path / "ckpt" / "c", arrays={"x": np.zeros(3)})
    plain = unisono._src.state.store._load.safe_open

    def remove_first(path, **options):
        remove(tmp_path / "ckpt" / "c")
        return plain(path, **options)

    monkeypatch.setattr(unisono._src.state.store._load, "safe_open", remove_first)
    with pytest.raises(BadCheckpoint, match="No such file"):
        load(tmp_path / "ckpt" / "c")
