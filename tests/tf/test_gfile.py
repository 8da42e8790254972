"""`tf.io.gfile`: local files and folders."""

from pathlib import Path

import pytest

import unisono.tf as tf


def test_a_text_file_is_written_appended_to_and_read(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    with tf.io.gfile.GFile(path, "w") as file:
        file.write("héllo\n")
        assert (file.name, file.mode) == (str(path), "w")
    with tf.io.gfile.GFile(path, "a") as file:
        file.write("world\n")
        file.flush()
        assert path.read_text() == "héllo\nworld\n"
    with tf.io.gfile.GFile(path) as file:
        assert file.read() == "héllo\nworld\n"
    with tf.io.gfile.GFile(str(path), "rb") as file:
        assert file.read() == "héllo\nworld\n".encode()


def test_lines_and_places(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("héllo\nworld\n")
    with tf.io.gfile.GFile(path) as file:
        assert file.size() == 13
        assert file.read(3) == "hé"
        assert file.tell() == 3
        assert file.readline() == "llo\n"
        assert list(file) == ["world\n"]
        file.seek(0)
        assert file.readlines() == ["héllo\n", "world\n"]
        assert file.seekable()


def test_a_file_is_used_only_as_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    with pytest.raises(tf.errors.PermissionDeniedError, match="opened for writing"):
        tf.io.gfile.GFile(path, "w").read()
    with pytest.raises(tf.errors.PermissionDeniedError, match="opened for reading"):
        tf.io.gfile.GFile(path, "r").write("x")
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.io.gfile.GFile(path).read()
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode is 'x'"):
        tf.io.gfile.GFile(path, "x")


def test_folders_are_created_listed_and_deleted(tmp_path: Path) -> None:
    top = str(tmp_path / "top")
    tf.io.gfile.makedirs(tf.io.gfile.join(top, "a", "b"))
    tf.io.gfile.makedirs(top + "/a/b")
    tf.io.gfile.mkdir(top + "/c")
    Path(top, "x.txt").write_text("x")
    assert tf.io.gfile.listdir(top) == ["a", "c", "x.txt"]
    assert tf.io.gfile.isdir(top + "/a")
    assert not tf.io.gfile.isdir(top + "/x.txt")
    assert sorted(tf.io.gfile.walk(top))[1:] == [(top + "/a", ["b"], []), (top + "/a/b", [], []), (top + "/c", [], [])]
    tf.io.gfile.rmtree(top)
    assert not tf.io.gfile.exists(top)


def test_patterns_give_paths_in_order(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "c.csv"):
        (tmp_path / name).write_text("")
    assert tf.io.gfile.glob(f"{tmp_path}/*.txt") == [f"{tmp_path}/a.txt", f"{tmp_path}/b.txt"]
    assert tf.io.gfile.glob([f"{tmp_path}/*.csv", f"{tmp_path}/b*"]) == [f"{tmp_path}/c.csv", f"{tmp_path}/b.txt"]
    assert tf.io.matching_files(f"{tmp_path}/?.*").numpy().tolist() == [
        f"{tmp_path}/{name}".encode() for name in ("a.txt", "b.txt", "c.csv")
    ]
    assert tf.io.matching_files(f"{tmp_path}/none").shape == (0,)


def test_copying_and_renaming_overwrite_only_on_request(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("old")
    tf.io.gfile.copy(old, new)
    with pytest.raises(tf.errors.AlreadyExistsError, match="overwrite=True"):
        tf.io.gfile.copy(old, new)
    new.write_text("new")
    with pytest.raises(tf.errors.AlreadyExistsError, match="overwrite=True"):
        tf.io.gfile.rename(old, new)
    assert new.read_text() == "new"
    tf.io.gfile.rename(old, new, overwrite=True)
    assert new.read_text() == "old"
    assert not tf.io.gfile.exists(old)


def test_missing_files_are_not_found_errors(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    for function in (tf.io.gfile.remove, tf.io.gfile.rmtree, tf.io.gfile.listdir, tf.io.gfile.stat):
        with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
            function(nowhere)
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.gfile.mkdir(nowhere / "inner")
    with pytest.raises(tf.errors.FailedPreconditionError, match="rmtree"):
        tf.io.gfile.remove(tmp_path)


def test_a_file_is_deleted_and_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    found = tf.io.gfile.stat(path)
    assert (found.length, found.is_directory, found.mtime_nsec) == (5, False, path.stat().st_mtime_ns)
    assert tf.io.gfile.stat(tmp_path).is_directory
    tf.io.gfile.remove(path)
    assert not path.exists()


@pytest.mark.parametrize("address", ["gs://bucket/file", "s3://bucket/file", "hdfs://host/file"])
def test_an_address_that_is_not_local_is_named(address: str) -> None:
    with pytest.raises(NotImplementedError, match=address.split("/")[0]):
        tf.io.gfile.exists(address)
    with pytest.raises(NotImplementedError, match="mount the"):
        tf.io.gfile.GFile(address)
    assert tf.io.gfile.get_registered_schemes() == ["", "file"]


def test_file_addresses_and_tensors_are_names(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    assert tf.io.gfile.exists(f"file://{tmp_path}/x")
    assert tf.io.gfile.exists(tf.constant(f"{tmp_path}/x"))
    assert tf.io.gfile.exists(f"{tmp_path}/x".encode())
