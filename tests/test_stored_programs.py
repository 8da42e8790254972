"""Compiled programs are kept for the next run, up to a size."""

import os
import zlib
from pathlib import Path

import pytest

from tests import stored_programs

PROGRAM = zlib.compress(os.urandom(1000))


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with room for three programs."""
    monkeypatch.setattr(stored_programs, "FOLDER", tmp_path / "store")
    monkeypatch.setattr(stored_programs, "_MAX_BYTES", 3 * len(PROGRAM))
    return tmp_path / "store"


def _run(folder: Path, *names: str, program: bytes = PROGRAM) -> set[str]:
    """What a process finds that compiles these programs and ends."""
    folder.mkdir()
    stored_programs.exchange_programs(str(folder))
    found = set(os.listdir(folder))
    for name in names:
        (folder / name).write_bytes(program)
    stored_programs.exchange_programs(str(folder))
    stored_programs.remove_oldest_programs()
    return found


def test_the_next_process_finds_what_one_has_compiled(tmp_path: Path) -> None:
    assert _run(tmp_path / "first", "a", "b") == set()
    assert _run(tmp_path / "second") == {"a", "b"}


def test_a_running_process_finds_what_another_has_compiled(tmp_path: Path) -> None:
    _run(tmp_path / "first", "a")
    _run(tmp_path / "second", "b")
    stored_programs.exchange_programs(str(tmp_path / "first"))
    assert {path.name: path.read_bytes() for path in (tmp_path / "first").iterdir()} == {"a": PROGRAM, "b": PROGRAM}


def test_the_oldest_are_removed_if_there_is_no_room(tmp_path: Path, store: Path) -> None:
    _run(tmp_path / "first", "a", "b", "c")
    for age, name in enumerate("bca"):
        os.utime(store / name, (age, age))
    _run(tmp_path / "second", "d", "e")
    assert _run(tmp_path / "third") == {"a", "d", "e"}


def test_half_of_a_program_is_not_stored(tmp_path: Path) -> None:
    _run(tmp_path / "first", "a", program=PROGRAM[:500])
    assert _run(tmp_path / "second") == set()
