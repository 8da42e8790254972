"""One file that is there completely or not at all."""

import os
import resource

import h5py
import numpy as np
import pytest

from unisono._src.state.store import CheckpointError, staged_file


def test_the_file_appears_at_the_end_of_the_block(tmp_path):
    path = tmp_path / "new" / "export" / "model.weights.h5"
    with staged_file(path) as temporary:
        assert temporary.name == "model.weights.h5"
        with h5py.File(temporary, "w") as file:
            file["x"] = np.arange(3)
        assert os.listdir(tmp_path / "new" / "export") == []
    with h5py.File(path) as file:
        assert list(file["x"]) == [0, 1, 2]
    assert os.listdir(tmp_path / "new") == ["export"]


def test_a_file_that_was_there_is_replaced_at_the_end(tmp_path):
    path = tmp_path / "out" / "model.keras"
    for text in ("old", "new"):
        with staged_file(str(path)) as temporary:
            temporary.write_text(text)
    assert path.read_text() == "new"


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), PermissionError(13, "x")])
def test_an_exception_passes_through_and_changes_nothing(tmp_path, error):
    path = tmp_path / "out" / "model.keras"
    with staged_file(path) as temporary:
        temporary.write_text("old")

    def fail():
        with staged_file(path) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(type(error)) as caught:
        fail()
    assert caught.value is error
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_a_block_that_writes_nothing_is_an_error(tmp_path):
    with pytest.raises(CheckpointError, match="the block left no file"), staged_file(tmp_path / "out" / "x.keras"):
        pass
    assert os.listdir(tmp_path / "out") == []


def test_a_folder_of_that_name_is_an_error_and_stays(tmp_path):
    (tmp_path / "out" / "model.keras" / "x").mkdir(parents=True)
    with (
        pytest.raises(CheckpointError, match=r"model\.keras' \(4 bytes\) could not be written: Is a directory"),
        staged_file(tmp_path / "out" / "model.keras") as temporary,
    ):
        temporary.write_text("text")
    assert os.path.exists(tmp_path / "out" / "model.keras" / "x")
    assert os.listdir(tmp_path) == ["out"]


def test_a_file_with_the_name_of_the_folder_is_an_error(tmp_path):
    (tmp_path / "out").touch()
    with (
        pytest.raises(CheckpointError, match="Move that away") as caught,
        staged_file(tmp_path / "out" / "model.keras"),
    ):
        pytest.fail("the block must not run")
    assert isinstance(caught.value.__cause__, OSError)


def test_no_room_inside_the_block_is_explained(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with (
            pytest.raises(CheckpointError, match=r"model\.keras' could not be written: File too large.*ulimit -f"),
            staged_file(tmp_path / "out" / "model.keras") as temporary,
        ):
            temporary.write_bytes(bytes(20_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.listdir(tmp_path / "out") == []
    assert os.listdir(tmp_path) == ["out"]
