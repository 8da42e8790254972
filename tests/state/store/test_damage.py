"""Bytes flipped, cut, added or replaced, at every position: the clear error, or exactly what was written."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unisono._src.state.store import BadCheckpoint, CheckpointSeries, LoadedCheckpoint, commit, load
from unisono_launch._install_command import upgrade_command

pytestmark = pytest.mark.slow

FILES = ["arrays.safetensors", "state.json", "manifest.json"]


@pytest.fixture
def series(tmp_path: Path) -> CheckpointSeries:
    """Two checkpoints; the newer one is to be damaged."""
    series = CheckpointSeries(tmp_path / "ckpt")
    for step in (1, 2):
        arrays = {"dense/kernel": np.arange(6, dtype=np.float32).reshape(2, 3) + step, "count": np.int64(step)}
        commit(
            series.path(step),
            arrays=arrays,
            state={"epoch": step, "best": float("inf"), "names": ["a", "é"]},
            step=step,
        )
    return series


def content(stored: LoadedCheckpoint) -> Any:
    arrays = [(name, array.dtype, array.shape, array.tobytes()) for name, array in stored.arrays.items()]
    return arrays, repr(stored.state), stored.step, stored.info, stored.written


class Victim:
    """One file of the newer checkpoint, to be written over and over."""

    def __init__(self, series: CheckpointSeries, name: str) -> None:
        self.path = series.path(2) / name
        self.data = self.path.read_bytes()
        self.folder = series.path(2)
        self.right = content(load(self.folder))

    def is_noticed_or_invisible(self, data: bytes) -> bool:
        """True: BadCheckpoint. False: what was written comes back. Anything else fails the test."""
        with open(self.path, "r+b") as file:  # to write a new file costs a journal entry, thousands of times
            file.write(data)
            file.truncate()
        try:
            stored = load(self.folder)
        except BadCheckpoint:
            return True
        assert content(stored) == self.right
        assert self.path.name == "manifest.json", "only the whitespace of a manifest may be changed without notice"
        return False


def flips(data: bytes, masks: list[int]) -> Iterator[bytes]:
    for position in range(len(data)):
        for mask in masks:
            yield data[:position] + bytes([data[position] ^ mask]) + data[position + 1 :]


@pytest.mark.parametrize("name", FILES)
def test_every_flipped_byte_is_noticed(series, name):
    victim = Victim(series, name)
    noticed = [victim.is_noticed_or_invisible(data) for data in flips(victim.data, [0xFF, 0x20, 0x01])]
    assert all(noticed)


@pytest.mark.full
@pytest.mark.parametrize("name", FILES)
def test_every_byte_replaced_by_every_other_is_noticed(series, name):
    victim = Victim(series, name)
    noticed = [victim.is_noticed_or_invisible(data) for data in flips(victim.data, list(range(1, 256)))]
    # 1.0 can become 1e0, which is the same.
    assert sum(not found for found in noticed) <= (1 if name == "manifest.json" else 0)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_ends_early_anywhere_is_noticed(series, name):
    victim = Victim(series, name)
    for length in range(len(victim.data)):
        assert victim.is_noticed_or_invisible(victim.data[:length])


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("garbage", [b"\0", b"}" * 1000])
def test_garbage_at_the_end_or_in_the_middle_is_noticed(series, name, garbage):
    victim = Victim(series, name)
    for position in range(len(victim.data) + 1):
        assert victim.is_noticed_or_invisible(victim.data[:position] + garbage + victim.data[position:])


def test_whitespace_around_a_manifest_changes_nothing(series):
    victim = Victim(series, "manifest.json")
    assert not victim.is_noticed_or_invisible(b"\n " + victim.data.replace(b":", b" : ") + b"\n")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["missing", "folder", "link", "dangling link", "pipe", "empty"])
def test_anything_but_a_file_under_its_name_is_noticed(series, tmp_path, name, kind):
    path = series.path(2) / name
    shutil.copy(path, tmp_path / "the same bytes")
    path.unlink()
    match kind:
        case "folder":
            path.mkdir()
        case "link":
            path.symlink_to(tmp_path / "the same bytes")
        case "dangling link":
            path.symlink_to(tmp_path / "nothing")
        case "pipe":
            os.mkfifo(path)
        case "empty":
            path.touch()
    with pytest.raises(BadCheckpoint):
        load(series.path(2))
    good, _ = series.load_newest_good()
    assert good is not None
    assert good.step == 1


@pytest.mark.parametrize("folder", ["nothing", "file", "loop"])
def test_what_is_no_folder_is_no_checkpoint(tmp_path, folder):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(BadCheckpoint):
        load(tmp_path / folder)


def test_other_files_in_the_folder_are_not_read(series):
    right = content(load(series.path(2)))
    (series.path(2) / ".DS_Store").write_bytes(b"\xff" * 10)
    assert content(load(series.path(2))) == right


@pytest.mark.parametrize("name", FILES)
def test_the_newest_good_one_is_used_and_the_bad_one_is_named(series, name):
    os.truncate(series.path(2) / name, 20)
    good, bad = series.load_newest_good()
    assert good is not None
    assert good.step == 1
    assert good.state["epoch"] == 1
    assert [error.folder for error in bad] == [series.path(2)]
    assert name in bad[0].reason
    assert "step-2" in str(bad[0])


# From here on the checksums are right: such a manifest was written on purpose.


def signed(body: Any, **more: Any) -> bytes:
    canonical = json.dumps(body, separators=(",", ":")).encode()
    envelope = {"format": "unisono-checkpoint", "version": 1, "body": body, **more}
    return json.dumps({"sha256": hashlib.sha256(canonical).hexdigest(), **envelope}).encode()


def body_of(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_bytes())["body"]


def resign(folder: Path) -> None:
    """Makes the manifest fit the files as they are now."""
    body = body_of(folder)
    for name, entry in body["files"].items():
        data = (folder / name).read_bytes()
        entry.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    (folder / "manifest.json").write_bytes(signed(body))


def test_the_checksum_of_a_manifest_can_be_computed_without_unisono(series):
    before = content(load(series.path(2)))
    resign(series.path(2))
    assert content(load(series.path(2))) == before


def paths(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield from paths(node[key], (*path, key))


def replaced(node: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = node.copy()
    copy[path[0]] = replaced(node[path[0]], path[1:], value)
    return copy


WRONG = [None, True, -1, 0, 2**70, 1.5, "", "x", "../../../etc/passwd", [], [1], {}, {"a": 1}, [[[]]], [-1, 2], "O"]


def test_a_field_of_another_type_or_value_is_never_more_than_a_bad_checkpoint(series):
    body = body_of(series.path(2))
    path = series.path(2) / "manifest.json"
    num_bad = num_tried = 0
    for position in paths(body):
        for wrong in WRONG:
            path.write_bytes(signed(replaced(body, position, wrong)))
            num_tried += 1
            try:
                load(series.path(2))
            except BadCheckpoint:
                num_bad += 1
    # What is left are other steps and times, which only the checksum protects.
    assert num_bad > 0.9 * num_tried


@pytest.mark.parametrize("missing", ["step", "written", "info", "files", "arrays"])
def test_a_body_without_one_of_its_parts_is_bad(series, missing):
    body = body_of(series.path(2))
    del body[missing]
    (series.path(2) / "manifest.json").write_bytes(signed(body))
    with pytest.raises(BadCheckpoint, match="not as Unisono writes it"):
        load(series.path(2))


@pytest.mark.parametrize(
    "files",
    [
        lambda entry: {"../step-1/arrays.safetensors": entry, "state.json": entry},
        lambda entry: {"arrays.safetensors": entry, "state.json": entry, "/etc/passwd": entry},
        lambda entry: {"arrays.safetensors": entry},
        lambda entry: {},
    ],
)
def test_no_path_of_a_manifest_is_ever_opened(series, files):
    body = body_of(series.path(2))
    body["files"] = files(body["files"]["state.json"])
    (series.path(2) / "manifest.json").write_bytes(signed(body))
    with pytest.raises(BadCheckpoint, match="the list of files is not"):
        load(series.path(2))


@pytest.mark.parametrize("version", [4, 10**30])
def test_a_newer_version_is_named_with_the_remedy(series, version):
    (series.path(2) / "manifest.json").write_bytes(signed({"what": "ever"}, version=version, more={}))
    remedy = f"in version {version} of the format; this one reads 3. Upgrade: {upgrade_command()}"
    with pytest.raises(BadCheckpoint, match=re.escape(remedy)):
        load(series.path(2))


@pytest.mark.parametrize("version", [0, -1, True, 1.0, "1", None, [1]])
def test_a_version_that_never_was_is_bad(series, version):
    (series.path(2) / "manifest.json").write_bytes(signed(body_of(series.path(2)), version=version))
    with pytest.raises(BadCheckpoint, match="its version is"):
        load(series.path(2))


HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "deep lists": lambda _: b"[" * 200_000,
    "deep objects": lambda _: b'{"a":' * 200_000,
    "a bit too deep": lambda _: b"[" * 101 + b"]" * 101,
    "a key twice": lambda data: data.replace(b"{", b'{"a":1,"a":1,', 1),
    "NaN": lambda _: b"NaN",
    "Infinity": lambda _: b'{"a":Infinity}',
    "a huge number": lambda _: b"9" * 5000,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "with a mark": lambda data: b"\xef\xbb\xbf" + data,
    "not UTF-8": lambda _: b'"\xff"',
    "one dollar": lambda _: b'{"$x":1}',
    "no such float": lambda _: b'{"$float":"1.0"}',
    "a list as float": lambda _: b'{"$float":[]}',
    "two values": lambda data: data + data,
}


@pytest.mark.parametrize("how", HOSTILE)
@pytest.mark.parametrize("name", ["state.json", "manifest.json"])
def test_hostile_json_is_bad_and_nothing_worse(series, name, how):
    path = series.path(2) / name
    path.write_bytes(HOSTILE[how](path.read_bytes()))
    if name == "state.json":
        resign(series.path(2))
    with pytest.raises(BadCheckpoint, match=name):
        load(series.path(2))


def test_arrays_that_were_damaged_before_they_were_signed_are_bad_or_arrays(series):
    path = series.path(2) / "arrays.safetensors"
    data = path.read_bytes()
    shapes = {name: array.shape for name, array in load(series.path(2)).arrays.items()}
    for damaged in [*flips(data, [0xFF, 0x01]), *(data[:length] for length in range(len(data)))]:
        path.write_bytes(damaged)
        resign(series.path(2))
        try:
            found = load(series.path(2)).arrays
        except BadCheckpoint:
            continue
        assert {name: array.shape for name, array in found.items()} == shapes


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("x", {"shape": [2, 3], "dtype": "float32"}),
        ("dense/kernel", {"shape": [3, 2], "dtype": "float32"}),
        ("dense/kernel", {"shape": [2, 3], "dtype": "int32"}),
        ("dense/kernel", {"shape": [2, 3], "dtype": "object"}),
        ("dense/kernel", {"shape": [2, 3], "dtype": "float9_future"}),
        ("dense/kernel", {"shape": [2, 3], "dtype": "bfloat16"}),
        ("dense/kernel", {"shape": [0, 2**70], "dtype": "bfloat16"}),
        ("dense/kernel", {"shape": [1] * 100, "dtype": "bfloat16"}),
    ],
)
def test_arrays_that_are_not_as_the_manifest_says_are_bad(series, name, entry):
    body = body_of(series.path(2))
    body["arrays"] = {"count": body["arrays"]["count"], name: entry}
    (series.path(2) / "manifest.json").write_bytes(signed(body))
    with pytest.raises(BadCheckpoint, match=r"arrays\.safetensors is not as Unisono writes it"):
        load(series.path(2))
