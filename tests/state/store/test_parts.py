"""Checkpoints that several processes write: each a part, and together one checkpoint, completely or not at all."""

from __future__ import annotations

import itertools
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from unisono._src.state.store import (
    ArrayInPieces,
    BadCheckpoint,
    CheckpointError,
    CheckpointSeries,
    Piece,
    StagedParts,
    commit,
    load,
    open_checkpoint,
    write_part,
)

NAMES = ("chief", "worker 1", "worker 2")

WHOLE = {
    "rows": np.arange(24, dtype=np.float32).reshape(6, 4),
    "grid": np.arange(60, dtype=np.int16).reshape(4, 3, 5),
    "small": np.arange(12).reshape(6, 2).astype(ml_dtypes.bfloat16),
    "empty": np.zeros((0, 3), np.float64),
    "flag": np.array(True),
    "scale": np.array(3.5, ml_dtypes.bfloat16),
}
CUTS = {"rows": ([0, 2, 4, 6], [0, 4]), "grid": ([0, 1, 4], [0, 3], [0, 2, 5]), "small": ([0, 3, 6], [0, 1, 2])}


def in_pieces(name: str, part: int, num_parts: int = 3) -> Any:
    """An array of `WHOLE` as one process has it: cut at `CUTS`, dealt out to the processes."""
    whole = WHOLE[name]
    if name not in CUTS:
        return whole
    grid = [list(itertools.pairwise(ends)) for ends in CUTS[name]]
    indexes = [tuple(grid[dim][at] for dim, at in enumerate(cell)) for cell in np.ndindex(*map(len, grid))]
    pieces = tuple(Piece(number % num_parts, index) for number, index in enumerate(indexes))
    values = {
        number: whole[tuple(slice(*ends) for ends in piece.index)]
        for number, piece in enumerate(pieces)
        if piece.part == part
    }
    return ArrayInPieces(whole.shape, whole.dtype, pieces, values)


def arrays_of(part: int) -> dict[str, Any]:
    return {name: in_pieces(name, part) for name in WHOLE}


def commit_parts(folder: Path, step: int = 0) -> None:
    staged = StagedParts(folder, NAMES)
    for part in (2, 0, 1):
        write_part(staged.path, part, 3, arrays_of(part))
    staged.commit(arrays=arrays_of(0), state={"epoch": step}, step=step, info={"by": "three"})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts") / "ckpt" / "step-5"
    commit_parts(folder, 5)
    return folder


def test_the_parts_are_one_checkpoint(written: Path) -> None:
    assert sorted(os.listdir(written)) == [
        *(f"arrays-0000{part}-of-00003.safetensors" for part in range(3)),
        "manifest.json",
        "state.json",
    ]
    assert os.listdir(written.parent.parent) == ["ckpt"]
    loaded = load(written)
    assert (loaded.step, loaded.state, loaded.info["by"]) == (5, {"epoch": 5}, "three")
    assert list(loaded.arrays) == list(WHOLE)
    for name, whole in WHOLE.items():
        assert loaded.arrays[name].dtype == whole.dtype
        assert loaded.arrays[name].shape == whole.shape
        assert loaded.arrays[name].tobytes() == whole.tobytes()
        assert loaded.arrays[name].flags.writeable
    assert {path.stat().st_mode for path in written.iterdir()} == {(written / "state.json").stat().st_mode}


@pytest.mark.parametrize("name", WHOLE)
def test_any_slice_of_an_array_can_be_read_alone(written: Path, tmp_path: Path, name: str) -> None:
    commit(tmp_path / "one-file", arrays=WHOLE)
    whole, draw = WHOLE[name], np.random.default_rng(0)
    for folder in (written, tmp_path / "one-file"):
        stored = open_checkpoint(folder).arrays[name]
        assert (stored.shape, stored.dtype, stored.nbytes) == (whole.shape, whole.dtype, whole.nbytes)
        for _ in range(30):
            index = tuple(slice(*sorted(draw.integers(0, size + 1, 2).tolist())) for size in whole.shape)
            index = index[: draw.integers(0, whole.ndim + 1)]
            found = stored.read(index)
            assert found.dtype == whole.dtype
            assert found.shape == whole[index].shape
            assert found.tobytes() == whole[index].tobytes()
            found[...] = 0  # memory of its own, not the file's
        np.testing.assert_array_equal(np.asarray(stored), whole)


def test_arrays_that_are_opened_can_be_read_after_the_files_are_deleted(tmp_path: Path) -> None:
    commit_parts(tmp_path / "ckpt")
    opened = open_checkpoint(tmp_path / "ckpt")
    for path in (tmp_path / "ckpt").iterdir():
        path.unlink()
    assert np.asarray(opened.arrays["rows"]).tobytes() == WHOLE["rows"].tobytes()


def test_a_checkpoint_of_one_process_is_what_older_versions_read(tmp_path: Path) -> None:
    commit(tmp_path / "ckpt", arrays=WHOLE)
    manifest = json.loads((tmp_path / "ckpt" / "manifest.json").read_text())
    assert manifest["version"] == 1
    assert manifest["body"]["arrays"]["rows"] == {"shape": [6, 4], "dtype": "float32"}
    commit_parts(tmp_path / "parts")
    assert json.loads((tmp_path / "parts" / "manifest.json").read_text())["version"] == 2


def test_the_same_name_is_replaced_by_parts_and_by_one_file(tmp_path: Path) -> None:
    folder = tmp_path / "ckpt"
    for _ in range(2):
        commit_parts(folder, 1)
        assert len(os.listdir(folder)) == 5
        commit(folder, arrays={"x": np.ones(3)})
        assert len(os.listdir(folder)) == 3
    assert os.listdir(tmp_path) == ["ckpt"]


def test_the_error_of_one_process_is_raised_by_the_first_and_nothing_is_left(tmp_path: Path) -> None:
    staged = StagedParts(tmp_path / "ckpt", NAMES)
    write_part(staged.path, 0, 3, arrays_of(0))
    with pytest.raises(TypeError, match="dtype object"):
        write_part(staged.path, 2, 3, {"x": ArrayInPieces((1,), np.dtype("O"), (Piece(2, ((0, 1),)),), {0: [None]})})
    with pytest.raises(CheckpointError, match=r"worker 2 could not write its part. TypeError: The array 'x' has dtype"):
        staged.commit(arrays=arrays_of(0))
    staged.close()
    assert os.listdir(tmp_path) == []


def test_a_process_that_does_not_see_the_folder_says_which(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"elsewhere.*arrays-00001-of-00003.safetensors' .* could not be written"):
        write_part(tmp_path / "elsewhere", 1, 3, arrays_of(1))


def test_a_report_without_its_file_is_an_error(tmp_path: Path) -> None:
    staged = StagedParts(tmp_path / "ckpt", NAMES)
    for part in range(3):
        write_part(staged.path, part, 3, arrays_of(part))
    (staged.path / "arrays-00001-of-00003.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"(?s)worker 1 has reported its part.*a file system that they share"):
        staged.commit(arrays=arrays_of(0))
    staged.close()
    assert os.listdir(tmp_path) == []


def test_a_wait_for_parts_that_do_not_come_can_be_ended(tmp_path: Path) -> None:
    staged = StagedParts(tmp_path / "ckpt", NAMES)
    write_part(staged.path, 0, 3, arrays_of(0))
    threading.Timer(0.1, staged.abandon).start()
    with pytest.raises(CheckpointError, match="another process could not write its part, or has ended"):
        staged.commit(arrays=arrays_of(0))
    staged.close()
    assert os.listdir(tmp_path) == []
    StagedParts(tmp_path / "ckpt", NAMES).close()
    assert os.listdir(tmp_path) == []


WAIT_FOR_A_PART = """
staged = StagedParts(Path(sys.argv[1]), ("chief", "worker 1"))
write_part(staged.path, 0, 2, {"x": np.ones(3)})
print(staged.path, flush=True)
staged.commit(arrays={"x": np.ones(3)}, step=3)
"""


def test_a_first_process_that_is_killed_leaves_nothing_that_stays(tmp_path: Path, child: Any) -> None:
    series = CheckpointSeries(tmp_path / "ckpt")
    commit(series.path(1), arrays={}, step=1)
    process = child(WAIT_FOR_A_PART, series.path(2))
    staged = Path(process.stdout.readline().strip())
    write_part(staged, 1, 2, {})  # the other process keeps running for a while
    process.wait(20)
    assert process.returncode == 0
    assert series.steps() == [1, 2]
    process = child(WAIT_FOR_A_PART, series.path(3))
    staged = Path(process.stdout.readline().strip())
    process.kill()
    assert process.wait(20) == -signal.SIGKILL
    write_part(staged, 1, 2, {})
    good, bad = series.load_newest_good(open_checkpoint)
    assert good is not None
    assert (good.step, bad) == (3, [])  # the step of the checkpoint in the folder step-2
    assert os.listdir(tmp_path) == ["ckpt"]
    with pytest.raises(CheckpointError, match="could not be written"):
        write_part(staged, 1, 2, {})


# Damage.


def flips(data: bytes) -> Iterator[bytes]:
    for position in range(0, len(data), 3):
        yield data[:position] + bytes([data[position] ^ 0x20]) + data[position + 1 :]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arrays-00001-of-00003.safetensors", "state.json", "manifest.json"])
def test_damage_of_any_part_is_noticed(tmp_path: Path, name: str) -> None:
    commit_parts(tmp_path / "ckpt")
    path = tmp_path / "ckpt" / name
    data = path.read_bytes()
    for damaged in (*flips(data), data[:-1], data + b"\0", b""):
        path.write_bytes(damaged)
        with pytest.raises(BadCheckpoint):
            open_checkpoint(tmp_path / "ckpt")
    path.unlink()
    with pytest.raises(BadCheckpoint, match=name):
        open_checkpoint(tmp_path / "ckpt")
    path.symlink_to("/dev/null")
    with pytest.raises(BadCheckpoint, match=name):
        open_checkpoint(tmp_path / "ckpt")


def test_the_newest_good_one_is_used_if_a_part_is_missing(tmp_path: Path) -> None:
    series = CheckpointSeries(tmp_path / "ckpt")
    for step in (1, 2):
        commit_parts(series.path(step), step)
    (series.path(2) / "arrays-00002-of-00003.safetensors").unlink()
    good, bad = series.load_newest_good()
    assert good is not None
    assert good.step == 1
    assert [error.reason for error in bad] == ["arrays-00002-of-00003.safetensors is missing."]
    series.prune(keep=1)  # an incomplete one does not count
    assert series.steps() == [1, 2]


PIECES = {
    "a hole": [[0, 0, 2, 0, 4], [1, 4, 6, 0, 4]],
    "an overlap": [[0, 0, 3, 0, 4], [1, 2, 6, 0, 4]],
    "one twice": [[0, 0, 6, 0, 4], [1, 0, 6, 0, 4]],
    "too long": [[0, 0, 7, 0, 4]],
    "too few dimensions": [[0, 0, 6]],
    "no such part": [[3, 0, 6, 0, 4]],
    "negative": [[-1, 0, 6, 0, 4]],
    "a path": [["../state.json", 0, 6, 0, 4]],
    "none": [],
    "no list": 7,
    "backwards": [[0, 6, 0, 0, 4]],
    "not a grid": [[0, 0, 2, 0, 4], [0, 2, 6, 0, 2], [0, 2, 4, 2, 4], [0, 4, 6, 2, 4]],
    "missing": None,
    "others": [[0, 0, 1, 0, 4], [1, 1, 6, 0, 4]],
}


@pytest.mark.parametrize("what", PIECES)
def test_pieces_that_do_not_make_an_array_are_refused_though_they_are_signed(tmp_path: Path, what: str) -> None:
    from tests.state.store.test_damage import body_of, signed

    commit_parts(tmp_path / "ckpt")
    body = body_of(tmp_path / "ckpt")
    body["arrays"]["rows"]["pieces"] = PIECES[what]
    (tmp_path / "ckpt" / "manifest.json").write_bytes(signed(body, version=2))
    with pytest.raises(BadCheckpoint, match="is not as Unisono writes it"):
        open_checkpoint(tmp_path / "ckpt")


@pytest.mark.parametrize("version", [1, 2])
def test_a_version_that_does_not_fit_the_files_is_refused(tmp_path: Path, version: int) -> None:
    from tests.state.store.test_damage import body_of, signed

    if version == 1:
        commit_parts(tmp_path / "ckpt")
    else:
        commit(tmp_path / "ckpt", arrays=WHOLE)
    body = body_of(tmp_path / "ckpt")
    (tmp_path / "ckpt" / "manifest.json").write_bytes(signed(body, version=version))
    with pytest.raises(BadCheckpoint, match="the version is not valid"):
        open_checkpoint(tmp_path / "ckpt")
