"""Checkpoints in a store that is reached by URL: with the semantics of a bucket, with faults, and under attack."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import ml_dtypes
import numpy as np
import pytest

from tests.object_store import FOLDER_VARIABLE, ObjectStore, copy_store
from tests.state.store.test_parts import NAMES, WHOLE, arrays_of
from unisono._src.state.store import (
    BadCheckpoint,
    CheckpointError,
    CheckpointSeries,
    RemotePath,
    StagedParts,
    _remote_path,
    commit,
    identify_files,
    is_committed,
    is_staged,
    list_checkpoints,
    load,
    open_checkpoint,
    remove,
    to_location,
    write_part,
    written_at,
)
from unisono._src.state.store._commit import describe_bytes
from unisono._src.state.store._manifest import ArrayEntry, Manifest, read_manifest

ROOT = "objects://bucket/runs/mnist"


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "objects"
    folder.mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    monkeypatch.setattr(ObjectStore, "before", staticmethod(lambda operation, key: None))
    return folder


@pytest.fixture(params=[ROOT, "memory://bucket/runs/mnist"])
def root(request: pytest.FixtureRequest) -> Iterator[str]:
    yield request.param
    if request.param.startswith("memory"):
        import fsspec

        fsspec.filesystem("memory").store.clear()


def object_file(store: Path, path: RemotePath) -> Path:
    """The file of an object."""
    return store / quote(str(path).removeprefix("objects://"), safe="")


def keys(store: Path) -> list[str]:
    return sorted(store.iterdir())


def save(folder: Any, step: int, value: int | None = None) -> None:
    value = step if value is None else value
    commit(folder, arrays={"weights": np.full(500, value, "float32")}, state={"value": value}, step=step)


def save_in_parts(folder: Any, step: int, value: int | None = None) -> None:
    value = step if value is None else value
    staged = StagedParts(folder, NAMES)
    assert is_staged(staged.path)
    for part in (2, 0, 1):
        write_part(staged.path, part, 3, arrays_of(part))
    staged.commit(arrays=arrays_of(0), state={"value": value}, step=step)


SAVES = [save, save_in_parts]


@pytest.mark.parametrize("save", SAVES)
def test_checkpoints_are_written_listed_read_pruned_and_deleted(root: str, save: Callable[..., None]) -> None:
    series = CheckpointSeries(root, "save")
    assert series.steps() == []
    assert series.load_newest_good() == (None, [])
    for step in (1, 2, 10):
        save(series.path(step), step)
        series.prune(keep=2)
    assert series.steps() == [2, 10]
    good, bad = series.load_newest_good()
    assert good is not None
    assert (good.step, good.state, good.number, good.folder, bad) == (10, {"value": 10}, 10, series.path(10), [])
    assert [str(path) for path in list_checkpoints(root)] == [f"{root}/save-10", f"{root}/save-2"]
    assert written_at(series.path(10)) >= written_at(series.path(2)) > 1e9
    remove(series.path(2))
    assert not is_committed(series.path(2))
    series.clear()
    assert series.steps() == []


def test_every_dtype_and_shape_comes_back_with_its_bits(root: str) -> None:
    arrays = {**WHOLE, "complex": np.array([1 + 2j]), "tiny": np.arange(6).astype(ml_dtypes.float8_e4m3fn)}
    commit(f"{root}/whole", arrays=arrays)
    for name, value in load(f"{root}/whole").arrays.items():
        assert (value.dtype, value.shape, value.tobytes()) == (
            arrays[name].dtype,
            arrays[name].shape,
            arrays[name].tobytes(),
        )
        assert value.flags.writeable


def test_nothing_but_checkpoints_is_left_in_the_store(store: Path) -> None:
    for number, save in enumerate([*SAVES, *SAVES], start=1):
        save(f"{ROOT}/save-1", number)
    assert len(keys(store)) == 1 + 1 + 3  # the manifest, the state, three parts
    remove(f"{ROOT}/save-1")
    assert keys(store) == []


@pytest.mark.parametrize("name", WHOLE)
def test_a_process_that_reads_a_part_of_an_array_reads_only_that(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    save_in_parts(f"{ROOT}/save-1", 1)
    stored = open_checkpoint(f"{ROOT}/save-1", verified=True).arrays[name]
    whole, draw = WHOLE[name], np.random.default_rng(0)
    for _ in range(30):
        index = tuple(slice(*sorted(draw.integers(0, size + 1, 2).tolist())) for size in whole.shape)
        index = index[: draw.integers(0, whole.ndim + 1)]
        found = stored.read(index)
        assert (found.dtype, found.shape, found.tobytes()) == (whole.dtype, whole[index].shape, whole[index].tobytes())
        found[...] = 0
    np.testing.assert_array_equal(np.asarray(stored), whole)


def test_only_the_ranges_that_are_asked_for_are_transferred(monkeypatch: pytest.MonkeyPatch) -> None:
    from unisono._src.state.store import ArrayInPieces, Piece

    table = np.arange(6 << 20, dtype=np.float32).reshape(6, 1 << 20)
    pieces = (Piece(0, ((0, 3), (0, 1 << 20))), Piece(1, ((3, 6), (0, 1 << 20))))
    staged = StagedParts(f"{ROOT}/save-1", NAMES[:2])
    for part in (0, 1):
        rows = {part: table[3 * part : 3 * part + 3]}
        write_part(staged.path, part, 2, {"table": ArrayInPieces(table.shape, table.dtype, pieces, rows)})
    staged.commit(arrays={"table": ArrayInPieces(table.shape, table.dtype, pieces, {})})
    stored = open_checkpoint(f"{ROOT}/save-1", verified=True).arrays["table"]
    transferred = []
    cat_file = ObjectStore.cat_file
    monkeypatch.setattr(
        ObjectStore,
        "cat_file",
        lambda self, path, start=None, end=None: transferred.append(end - start) or cat_file(self, path, start, end),
    )
    np.testing.assert_array_equal(stored.read([slice(4, 5)]), table[4:5])
    assert transferred == [4 << 20]


@pytest.mark.slow
@pytest.mark.parametrize("save", SAVES)
def test_at_every_operation_a_reader_sees_the_old_checkpoint_or_the_new_one(
    save: Callable[..., None], store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store after every prefix of operations, as it is if the writer is killed there."""
    done, value, images, operations, seen = 0, 0, itertools.count(), [], set()

    def look(operation: str, key: str) -> None:
        operations.append(operation)
        now = tuple((path.name, path.stat().st_mtime_ns) for path in keys(store))
        if operation and now in seen:  # it has changed nothing since
            return
        seen.add(now)
        image = copy_store(tmp_path / f"image-{next(images)}")
        with monkeypatch.context() as patched:
            patched.setenv(FOLDER_VARIABLE, str(image))
            patched.setattr(ObjectStore, "before", staticmethod(lambda operation, key: None))
            series = CheckpointSeries(ROOT, "save")
            good, bad = series.load_newest_good()
            assert bad == []
            step, found = (good.step, good.state["value"]) if good else (0, 0)
            assert (step, found) in ((done, value), target), operations
            # And the next writer finds nothing in its way, and clears up.
            save(series.path(step + 1), step + 1)
            series.prune(keep=1)
            assert series.steps() == [step + 1]
            assert len(keys(image)) == (3 if save is SAVES[0] else 5)

    monkeypatch.setattr(_remote_path, "_MAX_REQUESTS", 1)  # in order
    monkeypatch.setattr(ObjectStore, "before", staticmethod(look))
    series = CheckpointSeries(ROOT, "save")
    for target in ((1, 1), (2, 2), (3, 3), (3, 30)):
        save(series.path(target[0]), *target)
        done, value = target
        look("", "")
        series.prune(keep=2)
        look("", "")
    assert {"info", "ls", "cat_file", "pipe_file", "put_file", "rm_file"} <= set(operations)


@pytest.mark.slow
@pytest.mark.parametrize("save", SAVES)
@pytest.mark.parametrize("in_the_middle", [False, True])
def test_after_an_operation_that_fails_the_earlier_checkpoint_is_used(
    save: Callable[..., None], in_the_middle: bool, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each operation in turn fails. With `in_the_middle` half of a new object is there, as no bucket would leave it."""
    series = CheckpointSeries(ROOT, "save")
    save(series.path(1), 1)
    for number in itertools.count(1):
        countdown = itertools.count(1)

        def fail(operation: str, key: str, number: int = number, countdown: Any = countdown) -> None:
            if next(countdown) == number:
                if in_the_middle and operation in ("pipe_file", "put_file") and not key.endswith("manifest.json"):
                    (store / quote(key, safe="")).write_bytes(b"half")
                raise ConnectionResetError(104, "Connection reset by peer")

        monkeypatch.setattr(ObjectStore, "before", staticmethod(fail))
        error = None
        try:
            save(series.path(2), 2)
        except (CheckpointError, OSError) as found:
            error = found
        monkeypatch.setattr(ObjectStore, "before", staticmethod(lambda operation, key: None))
        good, bad = series.load_newest_good()
        assert good is not None
        assert bad == []
        if error is None:
            assert good.step == 2
            if next(countdown) <= number:
                break
        else:
            assert isinstance(error, CheckpointError), error
            assert "ConnectionResetError" in str(error)
            assert good.step == 1
        save(series.path(2), 2)
        series.prune(keep=2)
        assert len(keys(store)) == 2 * (3 if save is SAVES[0] else 5)
        remove(series.path(2))
    assert number > 5


def test_a_listing_that_fails_is_an_error_and_no_empty_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    series = CheckpointSeries(ROOT, "save")
    save(series.path(1), 1)

    def refuse(operation: str, key: str) -> None:
        raise PermissionError(13, "Forbidden")

    monkeypatch.setattr(ObjectStore, "before", staticmethod(refuse))
    for question in (series.steps, series.load_newest_good, lambda: is_committed(series.path(1))):
        with pytest.raises(CheckpointError, match=r"could not be .*PermissionError: .*Forbidden.*credentials"):
            question()


@pytest.mark.parametrize("save", SAVES)
def test_a_reader_whose_checkpoint_is_replaced_meanwhile_reads_the_new_one(
    save: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{ROOT}/latest"
    save(path, 1)

    def replace_once(operation: str, key: str) -> None:
        if operation == "get_file":
            monkeypatch.setattr(ObjectStore, "before", staticmethod(lambda operation, key: None))
            save(path, 2)

    monkeypatch.setattr(ObjectStore, "before", staticmethod(replace_once))
    assert load(path).state == {"value": 2}


def test_a_folder_with_something_else_is_refused_and_not_touched(store: Path) -> None:
    RemotePath(f"{ROOT}/save-1/notes.txt").write(b"mine")
    with pytest.raises(CheckpointError, match=r"is not a checkpoint, but holds 'notes\.txt'"):
        save(f"{ROOT}/save-1", 1)
    with pytest.raises(CheckpointError, match="was not deleted: it is not a folder with a manifest"):
        remove(f"{ROOT}/save-1")
    RemotePath(f"{ROOT}/save-2").write(b"mine")
    with pytest.raises(CheckpointError, match="is a file"):
        save(f"{ROOT}/save-2", 1)
    CheckpointSeries(ROOT, "save").prune(keep=1)
    assert len(keys(store)) == 2


def test_a_checkpoint_is_not_confused_with_one_whose_name_begins_alike() -> None:
    for step in (1, 10, 100):
        save(f"{ROOT}/save-{step}", step)
    remove(f"{ROOT}/save-1")
    assert CheckpointSeries(ROOT, "save").steps() == [10, 100]
    assert load(f"{ROOT}/save-10").step == 10


def test_a_temporary_folder_that_is_too_small_is_named(
    tmp_path: Path, mount: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = mount(tmp_path / "small", "-t", "tmpfs", "-o", "size=64k", "none")
    save(f"{ROOT}/save-1", 1)
    arrays = {"weights": np.zeros(100_000)}
    commit(f"{ROOT}/large", arrays=arrays)
    monkeypatch.setattr(tempfile, "tempdir", str(small))
    for attempt in (lambda: commit(f"{ROOT}/save-1", arrays=arrays), lambda: load(f"{ROOT}/large")):
        with pytest.raises(CheckpointError, match=r"No space left on device. Files on their way are .*Set TMPDIR"):
            attempt()
    assert load(f"{ROOT}/save-1").step == 1
    assert os.listdir(small) == []


# Attacks: a checkpoint of a store is trusted as little as one of a disk.


@pytest.mark.parametrize("save", SAVES)
@pytest.mark.parametrize("kind", ["cut", "longer", "changed", "missing", "empty"])
def test_damage_of_any_file_is_found_and_the_earlier_checkpoint_is_used(
    save: Callable[..., None], kind: str, store: Path
) -> None:
    series = CheckpointSeries(ROOT, "save")
    for step in (1, 2):
        save(series.path(step), step)
    for path in [path for path in keys(store) if "save-2" in path.name]:
        data = path.read_bytes()
        if kind == "missing":
            path.unlink()
        else:
            changed = {"cut": data[:-1], "longer": data + b"x", "changed": data[:-2] + b"\xff}", "empty": b""}[kind]
            path.write_bytes(changed)
        good, bad = series.load_newest_good()
        assert good is not None
        assert good.step == 1
        assert len(bad) == (0 if kind == "missing" and "manifest" in path.name else 1)
        assert all(error.folder == series.path(2) for error in bad)
        path.write_bytes(data)
    assert series.load_newest_good()[1] == []


@pytest.mark.parametrize("data", ["..", "../save-1", "/etc", "0" * 15, "0" * 17, "A" * 16, 5, None, ["0" * 16]])
@pytest.mark.parametrize("root", [ROOT, "local"])
def test_the_folder_of_the_files_is_a_name_that_unisono_draws(
    data: Any, root: str, tmp_path: Path, store: Path
) -> None:
    import hashlib

    from unisono._src.state.store._json import dumps

    folder = to_location(f"{ROOT}/save-1")
    save(folder, 1)
    file = object_file(store, folder / "manifest.json")
    content = json.loads(file.read_bytes())
    content["body"]["data"] = data
    content["sha256"] = hashlib.sha256(dumps(content["body"])).hexdigest()
    if root == "local":
        folder = tmp_path / "save-1"
        folder.mkdir()
        file = folder / "manifest.json"
    file.write_bytes(dumps(content))
    with pytest.raises(BadCheckpoint, match="not as Unisono writes it"):
        load(folder)


NAME = "weights[0:500]"
TENSOR = {"dtype": "F32", "shape": [500], "data_offsets": [0, 2000]}


def tensors(entries: Any, num_bytes: int = 2000) -> bytes:
    """A file of safetensors with this header."""
    text = json.dumps(entries).encode()
    return len(text).to_bytes(8, "little") + text + bytes(num_bytes)


def forge(content: bytes, state: bytes = b"null") -> str:
    """A checkpoint with these files of arrays and state, whose checksums are right."""
    folder, name = to_location(f"{ROOT}/forged"), "arrays-00000-of-00001.safetensors"
    manifest = Manifest(
        step=0,
        written=0,
        info={},
        files={"state.json": describe_bytes(state), name: describe_bytes(content)},
        arrays={"weights": ArrayEntry([500], "float32", [[0, 0, 500]])},
        data="0123456789abcdef",
    )
    (folder / manifest.path_of("state.json")).write(state)
    (folder / manifest.path_of(name)).write(content)
    (folder / "manifest.json").write(manifest.to_bytes())
    return str(folder)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 8,
        (10**18).to_bytes(8, "little") + b"{}",
        (1).to_bytes(8, "little") + b"{",
        (5).to_bytes(8, "little") + b"\xff\xff\xff\xff\xff" + bytes(2000),
        tensors([1, 2]),
        tensors({NAME: TENSOR}, num_bytes=1999),
        tensors({NAME: TENSOR | {"data_offsets": [-8, 1992]}}),
        tensors({NAME: TENSOR | {"data_offsets": [0, 10**15], "shape": [10**15 // 4]}}),
        tensors({NAME: TENSOR | {"data_offsets": [0, 4]}}),
        tensors({NAME: TENSOR | {"data_offsets": [0.0, 2000.0]}}),
        tensors({NAME: TENSOR | {"data_offsets": 7}}),
        tensors({NAME: TENSOR | {"shape": [-500]}}),
        tensors({NAME: TENSOR | {"shape": [True]}}),
        tensors({NAME: TENSOR | {"shape": "500"}}),
        tensors({NAME: TENSOR | {"dtype": "O"}}),
        tensors({NAME: TENSOR | {"dtype": ["F32"]}}),
        tensors({NAME: TENSOR | {"dtype": "I32"}}),
        tensors({NAME: 5}),
        tensors({"other": TENSOR}),
        tensors({NAME: TENSOR, "other": TENSOR}),
    ],
)
@pytest.mark.parametrize("verified", [False, True])
def test_a_file_of_arrays_that_lies_is_refused_also_where_only_ranges_are_read(content: bytes, verified: bool) -> None:
    with pytest.raises(BadCheckpoint):
        open_checkpoint(forge(content), verified=verified)
    right = open_checkpoint(forge(tensors({NAME: TENSOR})), verified=verified)
    assert right.arrays["weights"].read([slice(10, 12)]).tolist() == [0, 0]


@pytest.mark.parametrize("verified", [False, True])
def test_a_state_that_is_not_json_is_refused(verified: bool) -> None:
    with pytest.raises(BadCheckpoint, match=r"state\.json is not as Unisono writes it"):
        open_checkpoint(forge(tensors({NAME: TENSOR}), b"{"), verified=verified)


def test_the_same_files_are_recognized_and_others_are_not(store: Path) -> None:
    for step in (1, 2):
        save_in_parts(f"{ROOT}/save-{step}", 1)
    first, second = (to_location(f"{ROOT}/save-{step}") for step in (1, 2))
    assert identify_files(first) == identify_files(first) != identify_files(second)
    manifest = read_manifest(first)
    object_file(store, first / manifest.path_of(manifest.array_files[0])).unlink()
    with pytest.raises(BadCheckpoint, match="do not have the sizes"):
        identify_files(first)


def test_a_checkpoint_that_is_written_after_the_end_of_the_script_is_complete(child: Any) -> None:
    """Python then starts no more threads, so the requests are made one after the other."""
    process = child(
        """
import tests.object_store, threading
series, writer = CheckpointSeries(sys.argv[1], "save"), BackgroundWriter()
def job():
    threading.main_thread().join()
    time.sleep(0.3)  # thread pools are closed a moment later
    for step in (1, 2, 3):
        commit(series.path(step), arrays={"x": np.zeros(10)}, step=step)
        print(series.steps())
    remove(series.path(1))
    print(series.steps())
writer.start(job)
""",
        ROOT,
    )
    assert process.communicate(timeout=60) == ("[1]\n[1, 2]\n[1, 2, 3]\n[2, 3]\n", "")


# URLs


def test_a_file_url_is_a_folder_of_this_machine(tmp_path: Path) -> None:
    save(f"file://{tmp_path}/a%20b/save-1", 1)
    assert load(tmp_path / "a b" / "save-1").step == 1
    assert sorted(os.listdir(tmp_path / "a b" / "save-1")) == ["arrays.safetensors", "manifest.json", "state.json"]


def test_urls_that_cannot_be_used_say_what_to_type() -> None:
    with pytest.raises(ValueError, match="Pass the URL as a string"):
        to_location(Path("gs://bucket/runs"))
    with pytest.raises(ValueError, match="Pass the last URL alone: 'gs://bucket/runs'"):
        to_location("simplecache::gs://bucket/runs")
    with pytest.raises(ValueError, match=r"'nothing://x' cannot be reached: Protocol not known.*gcsfs for gs://"):
        to_location("nothing://x")


def test_a_bucket_that_does_not_exist_is_named(store: Path) -> None:
    store.rmdir()
    with pytest.raises(
        CheckpointError, match=r"'objects://bucket/runs/mnist/save-1/.*' could not be written: .*bucket"
    ):
        save(f"{ROOT}/save-1", 1)


def test_without_fsspec_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ModuleNotFoundError, match="pip install fsspec gcsfs"):
        commit("gs://bucket/save-1", arrays={})


def test_fsspec_is_imported_only_for_urls(child: Any, tmp_path: Path) -> None:
    process = child(
        "commit(sys.argv[1], arrays={})\nload(sys.argv[1])\nassert 'fsspec' not in sys.modules", tmp_path / "save-1"
    )
    assert process.communicate(timeout=60) == ("", "")
