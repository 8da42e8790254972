"""Staging folders: where they are, and when they are cleared."""

import contextlib
import errno
import fcntl
import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from unisono._src.state.store import CheckpointSeries, commit, load, remove, staged_file
from unisono._src.state.store._staging import clear_stale, staging_folder

pytestmark = pytest.mark.slow

OUTSIDE = ".ckpt.unisono-staging"
INSIDE = ".unisono-staging"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "ckpt"
    folder.mkdir()
    return folder


def test_the_staging_root_is_beside_the_folder_and_goes_with_its_last_user(folder):
    with staging_folder(folder) as first:
        assert first.parent == folder.parent / OUTSIDE
        assert os.listdir(folder) == []
        with staging_folder(folder) as second:
            assert second != first
        assert os.path.isdir(first)
        assert not os.path.exists(second)
    assert os.listdir(folder.parent) == ["ckpt"]


def test_the_staging_root_is_inside_where_the_folder_is_its_own_disk(tmp_path, mount):
    folder = mount(tmp_path / "ckpt", "-t", "tmpfs", "none")
    with staging_folder(folder) as staged:
        assert staged.parent == folder / INSIDE
        assert os.listdir(tmp_path) == ["ckpt"]
    for state in (1, 2):
        commit(folder / "step-5", arrays={}, state=state)
    with staged_file(folder / "model.keras") as temporary:
        temporary.write_text("a model")
    assert sorted(os.listdir(folder)) == ["model.keras", "step-5"]
    remove(folder / "step-5")
    assert os.listdir(folder) == ["model.keras"]
    assert os.listdir(tmp_path) == ["ckpt"]


def test_the_staging_root_is_inside_where_the_same_disk_is_mounted_twice(tmp_path, mount):
    (tmp_path / "real").mkdir()
    folder = mount(tmp_path / "ckpt", "--bind", str(tmp_path / "real"))
    assert os.stat(folder).st_dev == os.stat(tmp_path).st_dev  # so only the rename tells
    for state in (1, 2):
        commit(folder / "step-5", arrays={"x": np.zeros(3)}, state=state)
        assert load(folder / "step-5").state == state
    with staged_file(folder / "model.keras") as temporary:
        temporary.write_text("a model")
    assert (folder / "model.keras").read_text() == "a model"
    assert sorted(os.listdir(folder)) == ["model.keras", "step-5"]
    remove(folder / "step-5")
    assert os.listdir(folder) == ["model.keras"]
    assert sorted(os.listdir(tmp_path)) == ["ckpt", "real"]


def test_a_checkpoint_of_a_lower_layer_of_an_overlay_can_be_replaced_and_removed(tmp_path, mount):
    # An image with checkpoints in it. On a disk that is sure to carry an overlay.
    disk = mount(tmp_path / "disk", "-t", "tmpfs", "none")
    for name in ("upper", "work"):
        (disk / name).mkdir()
    for step in (1, 2):
        commit(disk / "lower" / "ckpt" / f"step-{step}", arrays={"x": np.zeros(3)}, state="image")
    layers = f"lowerdir={disk}/lower,upperdir={disk}/upper,workdir={disk}/work"
    folder = mount(tmp_path / "root", "-t", "overlay", "-o", layers, "overlay") / "ckpt"
    commit(folder / "step-2", arrays={}, state="container")
    assert load(folder / "step-2").state == "container"
    remove(folder / "step-1")
    assert os.listdir(folder) == ["step-2"]
    assert os.listdir(folder.parent) == ["ckpt"]


def test_the_staging_root_is_inside_where_the_parent_is_not_writable(open_folder, child):
    (open_folder / "ckpt").mkdir()
    os.chmod(open_folder / "ckpt", 0o777)
    os.chmod(open_folder, 0o555)
    process = child(
        """
if not os.getuid():
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
from unisono._src.state.store._staging import staging_folder
with staging_folder(Path(sys.argv[1])) as staged:
    print(staged.parent)
commit(Path(sys.argv[1]) / "step-5", arrays={}, state=1)
""",
        open_folder / "ckpt",
    )
    output, errors = process.communicate(timeout=60)
    os.chmod(open_folder, 0o755)
    assert errors == ""
    assert output.strip() == str(open_folder / "ckpt" / INSIDE)
    assert os.listdir(open_folder / "ckpt") == ["step-5"]
    assert os.listdir(open_folder) == ["ckpt"]


@pytest.mark.parametrize("kind", ["file", "link"])
def test_anything_else_with_the_name_of_the_staging_folder_is_left_alone(folder, tmp_path, kind):
    (tmp_path / "elsewhere").mkdir()
    if kind == "file":
        (tmp_path / OUTSIDE).touch()
    else:
        (tmp_path / OUTSIDE).symlink_to(tmp_path / "elsewhere")
    commit(folder / "step-5", arrays={})
    assert os.listdir(folder) == ["step-5"]
    assert os.listdir(tmp_path / "elsewhere") == []
    assert os.path.lexists(tmp_path / OUTSIDE)


def test_a_name_of_the_maximum_length_has_room_for_its_staging_folder(tmp_path):
    commit(tmp_path / ("c" * 255) / ("s" * 255), arrays={}, state=1)
    assert load(tmp_path / ("c" * 255) / ("s" * 255)).state == 1


LEAVE_BEHIND = """
from unisono._src.state.store._staging import staging_folder
with staging_folder(Path(sys.argv[1]), inside=sys.argv[2] == "inside") as staged:
    (staged / "half").mkdir()
    (staged / "half" / "arrays.safetensors").write_bytes(bytes(1000))
    print(staged, flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("where", ["outside", "inside"])
@pytest.mark.parametrize("how", ["commit", "prune", "staged_file"])
def test_what_a_killed_writer_left_is_cleared_and_what_a_living_one_has_is_not(folder, child, where, how):
    from subprocess import PIPE

    writers = [child(LEAVE_BEHIND, folder, where, stdin=PIPE) for _ in range(2)]
    killed, living = (Path(writer.stdout.readline().strip()) for writer in writers)
    writers[0].kill()
    writers[0].wait(60)

    def clear() -> None:
        match how:
            case "commit":
                commit(folder / "step-5", arrays={})
            case "prune":
                CheckpointSeries(folder).prune(None)
            case "staged_file":
                with staged_file(folder / "x.keras") as temporary:
                    temporary.touch()

    clear()
    assert not os.path.exists(killed)
    assert os.path.exists(living / "half" / "arrays.safetensors")
    writers[1].kill()
    writers[1].wait(60)
    clear()
    assert os.listdir(folder.parent) == ["ckpt"]
    assert INSIDE not in os.listdir(folder)


def test_a_lock_without_its_folder_is_cleared(folder):
    (folder.parent / OUTSIDE).mkdir()
    (folder.parent / OUTSIDE / ("0" * 16 + ".lock")).touch()
    clear_stale(folder)
    assert os.listdir(folder.parent) == ["ckpt"]


def test_foreign_files_in_the_staging_root_are_never_cleared(folder, tmp_path):
    staged = tmp_path / OUTSIDE
    (staged / ("a" * 16)).mkdir(parents=True)  # has no lock
    (staged / "notes.txt").touch()
    (staged / "notes.lock").touch()
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    (staged / ("b" * 16)).symlink_to(tmp_path / "precious")
    (staged / ("b" * 16 + ".lock")).touch()
    (staged / ("c" * 16 + ".lock")).symlink_to(tmp_path / "precious" / "file")
    clear_stale(folder)
    assert {"a" * 16, "notes.txt", "notes.lock", "b" * 16, "c" * 16 + ".lock"} <= set(os.listdir(staged))
    assert os.listdir(tmp_path / "precious") == ["file"]


@pytest.mark.parametrize("whose", ["writable for all", "of another user"])
def test_another_user_cannot_plant_a_checkpoint_in_a_staging_root_of_theirs(folder, whose):
    planted = folder.parent / OUTSIDE / ("0" * 16)
    commit(planted / "step-9.unisono-old", arrays={})
    planted.with_suffix(".lock").touch()
    if whose == "of another user":
        if os.getuid():
            pytest.skip("Only root can give files to another user.")
        for path in (planted.parent, planted, planted / "step-9.unisono-old", planted.with_suffix(".lock")):
            os.chown(path, 65534, 65534)
    else:
        planted.parent.chmod(0o1777)
    assert CheckpointSeries(folder).load_newest_good() == (None, [])
    commit(folder / "step-5", arrays={})
    with staging_folder(folder) as staged:
        assert staged.parent == folder / INSIDE
    assert os.listdir(folder) == ["step-5"]
    assert planted.exists()


def test_what_could_not_be_deleted_is_tried_again(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda path, ignore_errors: None)  # as where the server does not answer
        with staging_folder(folder) as staged:
            (staged / "x").touch()
    assert os.path.exists(staged)
    clear_stale(folder)
    assert os.listdir(folder.parent) == ["ckpt"]


def test_a_folder_that_was_taken_for_abandoned_before_it_was_locked_is_given_up_for_another(folder, monkeypatch):
    lock = fcntl.flock

    def lock_too_late(fd, how):
        monkeypatch.setattr(fcntl, "flock", lock)
        clear_stale(folder)
        lock(fd, how)

    monkeypatch.setattr(fcntl, "flock", lock_too_late)
    with staging_folder(folder) as staged:
        assert sorted(os.listdir(staged.parent)) == [staged.name, f"{staged.name}.lock"]
    assert os.listdir(folder.parent) == ["ckpt"]


def test_where_there_are_no_locks_nothing_looks_abandoned(folder, monkeypatch):
    def no_locks(fd, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with staging_folder(folder) as staged:
        (staged / "x").touch()
        clear_stale(folder)
        assert os.listdir(staged) == ["x"]
    assert os.listdir(folder.parent) == ["ckpt"]


def test_two_jobs_in_one_folder_do_not_disturb_each_other(folder, child):
    code = """
series = CheckpointSeries(Path(sys.argv[1]), sys.argv[2])
for step in range(40):
    commit(series.path(step), arrays={"x": np.full(100, step)}, step=step)
    commit(Path(sys.argv[1]) / "shared", arrays={"x": np.full(100, step)}, state=sys.argv[2], step=step)
    series.prune(2)
"""
    jobs = {name: child(code, folder, name) for name in ("one", "two", "three")}
    for job in jobs.values():
        _, errors = job.communicate(timeout=120)
        assert errors == ""
        assert job.returncode == 0
    for name in jobs:
        assert CheckpointSeries(folder, name).steps() == [38, 39]
        assert CheckpointSeries(folder, name).load_newest_good()[1] == []
    assert load(folder / "shared").state in jobs
    assert len(os.listdir(folder)) == 7
    assert os.listdir(folder.parent) == ["ckpt"]


def test_an_exception_in_the_block_leaves_nothing(folder):
    with contextlib.suppress(KeyboardInterrupt), staging_folder(folder) as staged:
        (staged / "x").touch()
        raise KeyboardInterrupt
    assert os.listdir(folder.parent) == ["ckpt"]


def test_many_come_and_go_at_once(folder):
    errors = []

    def come_and_go() -> None:
        try:
            for _ in range(100):
                with staging_folder(folder) as staged:
                    (staged / "x").touch()
                    clear_stale(folder)
                    assert os.listdir(staged) == ["x"]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=come_and_go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert errors == []
    assert os.listdir(folder.parent) == ["ckpt"]
