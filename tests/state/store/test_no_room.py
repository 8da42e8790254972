"""Full disks, forbidden and read-only folders: a clear error, nothing left behind, and what was there stays good."""

import errno
import os
import re
import resource
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

from unisono._src.state.store import CheckpointError, CheckpointSeries, commit, load, staged_file

pytestmark = pytest.mark.slow


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_full_disk_is_explained_and_loses_nothing(tmp_path, mount):
    disk = mount(tmp_path / "disk", "-t", "tmpfs", "-o", "size=1m", "none")
    series = CheckpointSeries(disk / "ckpt")
    commit(series.path(1), arrays={"x": np.zeros(50_000, np.uint8)}, step=1)
    before = listing(disk)
    for large in (1_500_000, 990_000):  # no room for the arrays, no room for what comes after them
        with pytest.raises(CheckpointError) as caught:
            commit(series.path(2), arrays={"x": np.ones(large, np.uint8)}, step=2)
        said = str(caught.value)
        assert re.search(rf"step-2' \({large + 4:,} bytes\) could not be written: No space left on device", said)
        assert re.search(r"ckpt' has [\d,]+ bytes free.*choose a folder on another disk", said)
        assert isinstance(caught.value.__cause__, OSError)
        assert caught.value.__cause__.errno == errno.ENOSPC
        assert listing(disk) == before
    good, bad = series.load_newest_good()
    assert good is not None
    assert (good.step, bad) == (1, [])
    commit(series.path(2), arrays={"x": np.ones(60_000, np.uint8)}, step=2)
    assert load(series.path(2)).step == 2


def test_a_disk_that_is_full_to_the_last_byte_is_explained_at_every_length(tmp_path, mount):
    disk = mount(tmp_path / "disk", "-t", "tmpfs", "-o", "size=256k", "none")
    (disk / "ckpt").mkdir()
    pages_left, said = 0, []
    (disk / "ballast").write_bytes(bytes(256 << 10))
    while True:
        try:
            commit(disk / "ckpt" / "c", arrays={"x": np.ones(5000, np.uint8)})
            break
        except CheckpointError as error:
            said.append(str(error))
            assert os.listdir(disk / "ckpt") == []
            assert sorted(os.listdir(disk)) == ["ballast", "ckpt"]
        pages_left += 1
        os.truncate(disk / "ballast", (256 << 10) - pages_left * 4096)
    assert all("No space left on device" in text for text in said)
    assert pages_left == 4  # two pages of arrays, one of state, one of the manifest
    assert load(disk / "ckpt" / "c").arrays["x"].all()


def test_a_full_disk_is_explained_for_one_file(tmp_path, mount):
    disk = mount(tmp_path / "disk", "-t", "tmpfs", "-o", "size=1m", "none")
    with (
        pytest.raises(CheckpointError, match=r"model\.keras' could not be written: No space left"),
        staged_file(disk / "out" / "model.keras") as temporary,
    ):
        temporary.write_bytes(bytes(2_000_000))
    assert listing(disk) == ["out"]


@pytest.mark.parametrize("limit", [1, 200, 5000])
def test_a_limit_on_the_size_of_files_is_explained(tmp_path, limit):
    commit(tmp_path / "ckpt" / "step-1", arrays={})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        with pytest.raises(
            CheckpointError, match=r"step-2' \(10,0\d\d bytes\) could not be .*: File too large"
        ) as caught:
            commit(tmp_path / "ckpt" / "step-2", arrays={"x": np.ones(10_000, np.uint8)}, state="text" * 3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == errno.EFBIG
    assert os.listdir(tmp_path / "ckpt") == ["step-1"]
    assert os.listdir(tmp_path) == ["ckpt"]


def test_a_read_only_disk_is_explained(tmp_path, mount):
    disk = mount(tmp_path / "disk", "-t", "tmpfs", "none")
    series = CheckpointSeries(disk / "ckpt")
    for step in (1, 2):
        commit(series.path(step), arrays={}, step=step)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True, timeout=60)
    with pytest.raises(
        CheckpointError, match=r"Read-only file system\. .*is mounted read-only\. Mount it writable"
    ) as caught:
        commit(series.path(3), arrays={})
    assert isinstance(caught.value.__cause__, OSError)
    with pytest.raises(CheckpointError, match="Read-only file system"):
        commit(disk / "new" / "step-1", arrays={})
    with pytest.raises(CheckpointError, match="step-1' could not be deleted: Read-only file system"):
        series.prune(1)
    good, bad = series.load_newest_good()
    assert good is not None
    assert (good.step, bad) == (2, [])


FORBIDDEN = """
series = CheckpointSeries(Path(sys.argv[1]))
for step in (1, 2):
    commit(series.path(step), arrays={}, step=step)
os.chmod(series.folder, 0o555)
os.chmod(series.folder.parent, 0o555)
if not os.getuid():
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
for deed in (
    lambda: commit(series.path(3), arrays={}),
    lambda: series.prune(1),
    lambda: commit(series.path(1), arrays={}, state=1),
):
    try:
        deed()
    except CheckpointError as error:
        print(type(error.__cause__).__name__, error)
print(series.steps(), series.load_newest_good()[0].step)
"""


def test_a_forbidden_folder_is_explained(open_folder, child):
    folder = open_folder / "runs" / "ckpt"
    output, errors = child(FORBIDDEN, folder).communicate(timeout=60)
    assert errors == ""
    wrote, pruned, replaced, found = output.splitlines()
    assert re.search(
        r"PermissionError .*step-3' \(4 bytes\) could not be written: Permission denied\. Give this user", wrote
    )
    assert f"(uid {os.getuid() or 65534}) the right to read and write in '{folder}'" in wrote
    assert re.search(r"PermissionError .*step-1' could not be deleted: Permission denied", pruned)
    assert re.search(r"PermissionError .*step-1' \(1 bytes\) could not be written: Permission denied", replaced)
    assert found == "[1, 2] 2"
    assert sorted(os.listdir(folder)) == ["step-1", "step-2"]
    assert os.listdir(folder.parent) == ["ckpt"]


UNREADABLE = """
series = CheckpointSeries(Path(sys.argv[1]))
for step in (1, 2):
    commit(series.path(step), arrays={}, step=step)
os.chmod(series.path(2) / sys.argv[2], 0)
if not os.getuid():
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
good, bad = series.load_newest_good()
print(good.step, bad[0].reason)
"""


@pytest.mark.parametrize("name", ["arrays.safetensors", "state.json", "manifest.json", "."])
def test_a_checkpoint_that_may_not_be_read_is_bad(open_folder, child, name):
    output, errors = child(UNREADABLE, open_folder / "ckpt", name).communicate(timeout=60)
    assert errors == ""
    assert output == f"1 {'it' if name == '.' else name} cannot be opened: Permission denied.\n"


@pytest.mark.parametrize("target", ["file", "file/step-1", "file/deep/step-1", "nowhere/step-1"])
def test_a_file_where_a_folder_is_expected_is_explained(tmp_path, target):
    (tmp_path / "file").write_text("text")
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    with pytest.raises(CheckpointError, match=r"Move (it|that) away"):
        commit(tmp_path / target, arrays={})
    assert sorted(os.listdir(tmp_path)) == ["file", "nowhere"]
    assert (tmp_path / "file").read_text() == "text"


def test_a_name_that_is_too_long_is_explained(tmp_path):
    with pytest.raises(CheckpointError, match=r"File name too long\. Choose a shorter name"):
        commit(tmp_path / "ckpt" / ("x" * 300), arrays={})
    assert os.listdir(tmp_path) in ([], ["ckpt"])


def test_a_folder_that_may_not_be_listed_is_explained(open_folder, child):
    code = """
os.mkdir(sys.argv[1], 0)
if not os.getuid():
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
try:
    CheckpointSeries(Path(sys.argv[1])).steps()
except CheckpointError as error:
    print(error)
"""
    output, errors = child(code, open_folder / "ckpt").communicate(timeout=60)
    assert errors == ""
    assert re.search(r"ckpt/step-\*' could not be listed: Permission denied.*read and write in '.*ckpt'", output)


def test_a_commit_in_a_thread_is_explained_too(tmp_path):
    (tmp_path / "file").touch()
    caught = []

    def job() -> None:
        try:
            commit(tmp_path / "file" / "step-1", arrays={})
        except CheckpointError as error:
            caught.append(error)

    thread = threading.Thread(target=job)
    thread.start()
    thread.join(60)
    assert len(caught) == 1
